import { useState, type FormEvent } from 'react'

import { linkOf, type AdminOrgDocument, type LeasesDocument } from '../../api/documents.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { formatLease } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const HOUR = 3600
const labels: Readonly<Record<keyof LeasesDocument, string>> = {
  deploymentDefault: 'May run, by default',
  deploymentMax: 'May run, at most',
  storageDefault: 'Kept when off, by default',
  storageMax: 'Kept when off, at most',
}
const keys = Object.keys(labels) as (keyof LeasesDocument)[]
const none: LeasesDocument = {
  deploymentDefault: 0,
  deploymentMax: 0,
  storageDefault: 0,
  storageMax: 0,
}

/** How long the vApps of an organisation may run and are kept. */
export function LeasesTab({ org }: { readonly org: AdminOrgDocument }) {
  const leases = org.leases ?? none
  return (
    <div className={page['cards']}>
      <Card title="Leases of vApps">
        <Facts rows={keys.map((key) => [labels[key], formatLease(leases[key])])} />
      </Card>
      {linkOf(org, 'edit') !== undefined && <LeasesForm org={org} leases={leases} />}
    </div>
  )
}

interface LeasesFormProps {
  readonly org: AdminOrgDocument
  readonly leases: LeasesDocument
}

function LeasesForm({ org, leases }: LeasesFormProps) {
  const [hours, setHours] = useState(
    () =>
      Object.fromEntries(keys.map((key) => [key, String(leases[key] / HOUR)])) as Record<
        keyof LeasesDocument,
        string
      >,
  )
  const { makeChange, isPending } = useChange()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    makeChange({
      href: org.href,
      method: 'PUT',
      body: {
        leases: Object.fromEntries(keys.map((key) => [key, Math.round(Number(hours[key]) * HOUR)])),
      },
      success: `Changed the leases of ${org.name}`,
      failure: `The leases of ${org.name} were not changed`,
    })
  }
  return (
    <Card title="Change (hours; 0: no limit)">
      <form className={page['fields']} onSubmit={submit}>
        {keys.map((key) => (
          <TextField
            key={key}
            label={labels[key]}
            type="number"
            min={0}
            step="any"
            value={hours[key]}
            onChange={(event) => setHours({ ...hours, [key]: event.target.value })}
          />
        ))}
        <div>
          <Button
            type="submit"
            tone="primary"
            unavailable={isPending ? 'the change is being sent' : undefined}
          >
            Save leases
          </Button>
        </div>
      </form>
    </Card>
  )
}
