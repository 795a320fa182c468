import { useState, type FormEvent } from 'react'

import type { LeaseSection, VAppDocument } from '../../api/documents.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { TextField } from '../../components/field.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useChange } from '../../data/use-change.ts'
import { formatLease } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const HOUR = 3600

/** How long a vApp may run, and how long it is kept while it does not run. */
export function LeaseTab({ vapp }: { readonly vapp: VAppDocument }) {
  const lease = vapp.leaseSettingsSection
  if (!lease) return <p className={page['soft']}>This vApp has no lease.</p>
  return (
    <div className={page['cards']}>
      <Card title="Lease">
        <Facts
          rows={[
            ['May run', formatLease(lease.deploymentLeaseInSeconds)],
            lease.deploymentLeaseExpiration !== undefined && [
              'Stops',
              <RelativeTime key="stops" time={lease.deploymentLeaseExpiration} />,
            ],
            ['Kept when off', formatLease(lease.storageLeaseInSeconds)],
            lease.storageLeaseExpiration !== undefined && [
              'Deleted',
              <RelativeTime key="deleted" time={lease.storageLeaseExpiration} />,
            ],
          ]}
        />
      </Card>
      <LeaseForm name={vapp.name} lease={lease} />
    </div>
  )
}

function LeaseForm({ name, lease }: { readonly name: string; readonly lease: LeaseSection }) {
  const [run, setRun] = useState(String(lease.deploymentLeaseInSeconds / HOUR))
  const [keep, setKeep] = useState(String(lease.storageLeaseInSeconds / HOUR))
  const { makeChange, isPending } = useChange()
  const values = [Number(run), Number(keep)]
  const isValid = values.every((value) => Number.isFinite(value) && value >= 0)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    makeChange({
      href: lease.href,
      method: 'PUT',
      body: {
        deploymentLeaseInSeconds: Math.round(Number(run) * HOUR),
        storageLeaseInSeconds: Math.round(Number(keep) * HOUR),
      },
      success: `Renewed the lease of ${name}`,
      failure: `The lease of ${name} was not changed`,
    })
  }
  return (
    <Card title="Renew or change">
      <form className={page['fields']} onSubmit={submit}>
        <TextField
          label="May run for (hours)"
          type="number"
          min={0}
          step="any"
          hint="0: no limit. The organisation may set a maximum."
          value={run}
          onChange={(event) => setRun(event.target.value)}
        />
        <TextField
          label="Kept when off for (hours)"
          type="number"
          min={0}
          step="any"
          value={keep}
          onChange={(event) => setKeep(event.target.value)}
        />
        <div>
          <Button
            type="submit"
            tone="primary"
            unavailable={
              isPending
                ? 'the change is being sent'
                : isValid
                  ? undefined
                  : 'enter numbers of hours'
            }
          >
            Save and restart the lease
          </Button>
        </div>
      </form>
    </Card>
  )
}
