import { useState, type FormEvent } from 'react'

import { linkOf, type AdminOrgDocument } from '../../api/documents.ts'
import { QuotaMeters } from '../../app/quota-meters.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { quotaRowsOf, type QuotaRow } from '../../model/quota.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

const GIB = 1024
const unitOf = (key: QuotaRow['key']): number => (key.endsWith('MB') ? GIB : 1)
const labelOf = (key: QuotaRow['key']): string =>
  key.endsWith('MB') ? `${en.quota[key]} (GiB)` : en.quota[key]

export const QuotaTab = ({ org }: { readonly org: AdminOrgDocument }) => (
  <div className={page['cards']}>
    <Card title="Used">
      <QuotaMeters org={org} />
    </Card>
    {linkOf(org, 'edit') !== undefined && <QuotaForm org={org} />}
    <Card title="On a terminal">
      <div className={page['stack']}>
        <CommandLine text={`skerry quota info ${org.name}`} />
        <CommandLine text={`skerry quota set ${org.name} --vms 100 --memory 512G`} />
      </div>
    </Card>
  </div>
)

type Limits = Readonly<Record<QuotaRow['key'], string>>

function QuotaForm({ org }: { readonly org: AdminOrgDocument }) {
  const rows = quotaRowsOf(org)
  const [limits, setLimits] = useState(
    () =>
      Object.fromEntries(
        rows.map(({ key, limit }) => [key, limit === undefined ? '' : String(limit / unitOf(key))]),
      ) as Limits,
  )
  const { makeChange, isPending } = useChange()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const quota = Object.fromEntries(
      rows.flatMap(({ key }) =>
        limits[key] === '' ? [] : [[key, Math.round(Number(limits[key]) * unitOf(key))]],
      ),
    )
    makeChange({
      href: org.href,
      method: 'PUT',
      body: { quota },
      success: `Changed the quota of ${org.name}`,
      failure: `The quota of ${org.name} was not changed`,
    })
  }
  return (
    <Card title="Limits">
      <form className={page['fields']} onSubmit={submit}>
        {rows.map(({ key }) => (
          <TextField
            key={key}
            label={labelOf(key)}
            type="number"
            min={0}
            step="any"
            placeholder="no limit"
            value={limits[key]}
            onChange={(event) => setLimits({ ...limits, [key]: event.target.value })}
          />
        ))}
        <div>
          <Button
            type="submit"
            tone="primary"
            unavailable={isPending ? 'the change is being sent' : undefined}
          >
            Save limits
          </Button>
        </div>
      </form>
    </Card>
  )
}
