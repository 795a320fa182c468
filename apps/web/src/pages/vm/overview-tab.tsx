import { useState } from 'react'

import { pathOf } from '../../api/client.ts'
import type { MetricsDocument } from '../../api/documents.ts'
import { useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { Chart } from '../../components/chart.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { consoles } from '../../data/consoles.ts'
import { useStore } from '../../data/store.ts'
import { useMetrics } from '../../data/use-documents.ts'
import { findAction } from '../../model/actions.ts'
import { curlCommand } from '../../model/commands.ts'
import type { VmDetails } from '../../model/vm.ts'
import { formatDateTime, formatMiB } from '../../text/format.ts'
import { Screenshot } from './screenshot.tsx'
import { SnapshotCard } from './snapshot-card.tsx'

import page from '../../styles/page.module.css'
import style from './page.module.css'

export function OverviewTab({ vm }: { readonly vm: VmDetails }) {
  const { data: metrics } = useMetrics(vm.id, vm.power === 'on')
  return (
    <div className={page['columns']}>
      <div className={page['stack']}>
        {vm.power === 'on' && metrics && <UsageCard vm={vm} metrics={metrics} />}
        <DetailsCard vm={vm} />
      </div>
      <div className={page['stack']}>
        <ScreenCard vm={vm} />
        <SnapshotCard vm={vm} />
        <Card title="On a terminal">
          <div className={style['commands']}>
            <CommandLine text={`skerry ssh ${vm.name}`} />
            <CommandLine text={`skerry console ${vm.name}`} />
            <CommandLine text={`skerry info ${vm.name} --json`} />
            <CommandLine text={curlCommand('GET', pathOf(vm.href))} />
          </div>
        </Card>
      </div>
    </div>
  )
}

function UsageCard({ vm, metrics }: { readonly vm: VmDetails; readonly metrics: MetricsDocument }) {
  const [cursor, setCursor] = useState<number>()
  const time = { stepSeconds: metrics.step, until: metrics.until, cursor, onCursor: setCursor }
  const minutes = Math.round((metrics.step * metrics.cpuPercent.length) / 60)
  return (
    <Card title="Usage" tools={<span className={page['small']}>last {minutes} minutes</span>} flush>
      <div className={style['charts']}>
        <Chart
          {...time}
          title="CPU"
          unit="%"
          max={100}
          series={[{ name: 'CPU', values: metrics.cpuPercent }]}
        />
        <Chart
          {...time}
          title="Memory"
          unit="MiB"
          format={formatMiB}
          max={vm.memoryMiB}
          series={[{ name: 'Memory', values: metrics.memoryMB }]}
        />
        <Chart
          {...time}
          title="Disk"
          unit="MB/s"
          series={[
            { name: 'read', values: metrics.diskRead },
            { name: 'write', values: metrics.diskWrite },
          ]}
        />
        <Chart
          {...time}
          title="Network"
          unit="Mbit/s"
          series={[
            { name: 'in', values: metrics.netIn },
            { name: 'out', values: metrics.netOut },
          ]}
        />
      </div>
    </Card>
  )
}

const DetailsCard = ({ vm }: { readonly vm: VmDetails }) => {
  const mono = (text: string) => <span className={page['mono']}>{text}</span>
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['IP address', vm.address === undefined ? 'none yet' : mono(vm.address)],
          vm.mac !== undefined && ['MAC address', mono(vm.mac)],
          vm.network !== undefined && ['Network', vm.network],
          ['CPUs', vm.cpus],
          ['Memory', formatMiB(vm.memoryMiB)],
          ['Disk', formatMiB(vm.diskMiB)],
          vm.computerName !== undefined && ['Host name', vm.computerName],
          vm.created !== undefined && ['Created', formatDateTime(vm.created)],
          ['ID', mono(vm.id)],
        ]}
      />
    </Card>
  )
}

function ScreenCard({ vm }: { readonly vm: VmDetails }) {
  const { current } = useStore(consoles)
  const startAction = useVmActions()
  const action = findAction(vm.actions, 'console')
  if (current === vm.id || !action) return null
  return (
    <Card
      title="Screen"
      flush
      tools={
        <Button
          small
          icon="console"
          unavailable={action.unavailable}
          onClick={() => startAction(vm, action)}
        >
          Console
        </Button>
      }
    >
      <div className={style['screen']}>
        <Screenshot vm={vm} />
      </div>
    </Card>
  )
}
