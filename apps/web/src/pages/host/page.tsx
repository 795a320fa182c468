import { Link, useParams } from 'react-router'

import { linkOf, type HostDocument } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Meter } from '../../components/meter.tsx'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { formatCount, formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'

export function HostPage() {
  const id = useParams()['host'] ?? ''
  const { data: host, error, refetch } = useDocument<HostDocument>(`/api/admin/host/${id}`)
  usePageTitle({ text: 'Hosts', to: paths.adminHosts }, { text: host?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!host) return <div className={page['page']} aria-busy="true" />
  const amounts = [
    { title: 'CPUs', amount: host.cpu, format: formatCount },
    { title: 'Memory', amount: host.memory, format: formatMiB },
    { title: 'Storage', amount: host.storage, format: formatMiB },
  ]
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <HostTools host={host} />
      <div className={page['cards']}>
        {amounts.map(({ title, amount, format }) => (
          <Card key={title} title={title}>
            <div className={page['stack']}>
              <span>
                {format(amount.used)} of {format(amount.limit)} in use
              </span>
              <Meter
                large
                share={amount.used / Math.max(1, amount.limit)}
                label={`${title} in use`}
              />
            </div>
          </Card>
        ))}
      </div>
      <div className={page['columns']}>
        <Card title="Details">
          <Facts
            rows={[
              ['State', host.state],
              ['Takes new VMs', host.isEnabled && host.isOpen !== false ? 'yes' : 'no'],
              [
                'VMs',
                <Link
                  key="vms"
                  className={page['link']}
                  to={`${paths.adminVms}?q=${encodeURIComponent(`host:${host.name}`)}`}
                >
                  VMs on this host
                </Link>,
              ],
              [
                'ID',
                <span key="id" className={page['mono']}>
                  {id}
                </span>,
              ],
            ]}
          />
        </Card>
        <Card title="On a terminal">
          <div className={page['stack']}>
            <CommandLine
              text={`skerry host ${host.isEnabled ? 'disable' : 'enable'} ${host.name}`}
            />
            <CommandLine text={`skerry vm list --all --filter hostName==${host.name}`} />
          </div>
        </Card>
      </div>
    </div>
  )
}

function HostTools({ host }: { readonly host: HostDocument }) {
  const { makeChange, isPending } = useChange()
  const href = linkOf(host, host.isEnabled ? 'disable' : 'enable')
  return (
    <div className={page['tools']}>
      <Button
        icon={host.isEnabled ? 'close' : 'check'}
        unavailable={
          href === undefined
            ? 'your role may not change hosts'
            : isPending
              ? 'the change is being sent'
              : undefined
        }
        onClick={() =>
          makeChange({
            href: href ?? '',
            method: 'POST',
            success: `${host.isEnabled ? 'Disabled' : 'Enabled'} ${host.name}`,
            failure: `${host.name} was not changed`,
          })
        }
      >
        {host.isEnabled ? 'Disable' : 'Enable'}
      </Button>
      <span className={page['small']}>
        {host.isEnabled
          ? 'A disabled host keeps its VMs and takes no new ones.'
          : 'This host takes no new VMs.'}
      </span>
    </div>
  )
}
