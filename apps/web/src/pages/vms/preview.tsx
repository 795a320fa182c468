import { lazy, Suspense, useEffect } from 'react'
import { Link } from 'react-router'

import { paths } from '../../app/paths.ts'
import { actionIcons, useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { PowerLabel } from '../../components/power-label.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { currentVm } from '../../data/page-state.ts'
import { pageConfig } from '../../data/session.ts'
import { source } from '../../data/source.ts'
import { useStore } from '../../data/store.ts'
import { useMetrics, useVm } from '../../data/use-documents.ts'
import { findAction, isAvailable } from '../../model/actions.ts'
import { shellQuoted } from '../../model/commands.ts'
import type { VmDetails } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './vm-list.module.css'

/** Not part of the list: only a preview draws. */
const Chart = lazy(async () => ({
  default: (await import('../../components/chart.tsx')).Chart,
}))

interface VmPreviewProps {
  readonly id: string
  readonly onClose: () => void
}

/** A VM beside the list: enough to decide, without losing the place in the list. */
export function VmPreview({ id, onClose }: VmPreviewProps) {
  const { data: vm, error } = useVm(id)
  useEffect(() => {
    currentVm.set(id)
    return () => currentVm.set('')
  }, [id])
  return (
    <aside className={style['preview']} aria-label={vm ? `Preview of ${vm.name}` : 'Preview'}>
      <div className={style['previewHead']}>
        {vm && (
          <div>
            <h2>
              <Link className={page['strong']} to={paths.vm(vm.id)}>
                {vm.name}
              </Link>
            </h2>
            <PowerLabel power={vm.power} isBusy={vm.isBusy} />
          </div>
        )}
        <Button small tone="plain" icon="close" label="Close the preview" onClick={onClose} />
      </div>
      {error ? <ErrorState error={error} /> : vm && <PreviewBody vm={vm} />}
    </aside>
  )
}

const quickActions = ['start', 'console', 'shutdown', 'reboot'] as const

function PreviewBody({ vm }: { readonly vm: VmDetails }) {
  const startAction = useVmActions()
  // A VM of a machine may have several.
  const { kind } = useStore(pageConfig)
  const isOn = vm.power === 'on'
  const { data: metrics } = useMetrics(vm.id, isOn)
  const actions = quickActions
    .map((name) => findAction(vm.actions, name))
    .filter((action) => action !== undefined)
    .filter(isAvailable)
  return (
    <>
      <div className={page['tools']}>
        {actions.map((action) => (
          <Button
            key={action.name}
            small
            icon={actionIcons[action.name]}
            onClick={() => startAction(vm, action)}
          >
            {en.action[action.name]}
          </Button>
        ))}
      </div>
      <Card title="Details">
        <Facts
          rows={[
            [
              'IP address',
              <span key="ip" className={page['mono']}>
                {vm.address ?? 'none yet'}
              </span>,
            ],
            vm.vapp !== undefined && ['vApp', vm.vapp],
            ['Hardware', `${vm.cpus} CPU · ${formatMiB(vm.memoryMiB)} · ${formatMiB(vm.diskMiB)}`],
            kind === 'cloud' && ['Snapshot', vm.snapshot?.name ?? 'none'],
            vm.created !== undefined && ['Created', <RelativeTime key="at" time={vm.created} />],
          ]}
        />
      </Card>
      {isOn && metrics?.cpuPercent.some((value) => value !== null) && (
        <Card flush>
          <Suspense>
            <Chart
              title="CPU"
              unit="%"
              max={100}
              series={[{ name: 'CPU', values: metrics.cpuPercent }]}
              stepSeconds={metrics.step}
              until={metrics.until}
            />
          </Suspense>
        </Card>
      )}
      {isOn && <CommandLine text={`skerry ssh ${shellQuoted(source().nameForTerminal(vm))}`} />}
    </>
  )
}
