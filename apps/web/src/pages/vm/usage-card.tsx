// What a VM used in the last hour: four charts, or why there are none.
import { useState, type ReactNode } from 'react'

import { explain } from '../../api/client.ts'
import type { MeasuredValues, MetricsDocument } from '../../api/documents.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Chart } from '../../components/chart.tsx'
import { useMetrics } from '../../data/use-documents.ts'
import type { DisplayedPower } from '../../model/power.ts'
import type { VmDetails } from '../../model/vm.ts'
import { formatBitRate, formatByteRate, formatClock, formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

/** Why a VM that is not running has no values; a VM that is created or failed has no card. */
const reasons: Readonly<Partial<Record<DisplayedPower, string>>> = {
  off: 'The VM is powered off. Its usage is shown while it runs.',
  suspended: 'The VM is suspended. Its usage is shown while it runs.',
  unknown: 'Its host does not answer. Usage is shown when the host is back.',
}

export function UsageCard({ vm }: { readonly vm: VmDetails }) {
  const isOn = vm.power === 'on'
  const { data: metrics, error, refetch } = useMetrics(vm.id, isOn)
  const reason = reasons[vm.power]
  if (!isOn) return reason === undefined ? null : <Note>{reason}</Note>
  if (!metrics && error) {
    return (
      <Note>
        {explain(error)}{' '}
        <Button small icon="restart" onClick={() => void refetch()}>
          Try again
        </Button>
      </Note>
    )
  }
  if (!metrics) return <Note>Reading …</Note>
  if (!metrics.memoryMB.some((value) => value !== null)) {
    return <Note>No values yet. A host measures every 15 seconds.</Note>
  }
  return <UsageCharts vm={vm} metrics={metrics} isOld={error !== null} />
}

const Note = ({ children }: { readonly children: ReactNode }) => (
  <Card title="Usage" flush>
    <p className={style['note']} role="status">
      {children}
    </p>
  </Card>
)

interface UsageChartsProps {
  readonly vm: VmDetails
  readonly metrics: MetricsDocument
  /** The last attempt to read them failed. */
  readonly isOld: boolean
}

const BITS = 8
const inBits = (values: MeasuredValues): MeasuredValues =>
  values.map((value) => (value === null ? null : value * BITS))

function UsageCharts({ vm, metrics, isOld }: UsageChartsProps) {
  const [cursor, setCursor] = useState<number>()
  const time = { stepSeconds: metrics.step, until: metrics.until, cursor, onCursor: setCursor }
  return (
    <Card
      title="Usage"
      flush
      tools={
        <span className={page['small']} role="status">
          {isOld ? `not updated since ${formatClock(metrics.until)}` : 'last hour'}
        </span>
      }
    >
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
          format={formatMiB}
          max={vm.memoryMiB}
          series={[{ name: 'Memory', values: metrics.memoryMB }]}
        />
        <Chart
          {...time}
          title="Disk"
          format={formatByteRate}
          least={1000}
          series={[
            { name: 'read', values: metrics.diskRead },
            { name: 'write', values: metrics.diskWrite },
          ]}
        />
        <Chart
          {...time}
          title="Network"
          format={formatBitRate}
          least={1000}
          series={[
            { name: 'in', values: inBits(metrics.netIn) },
            { name: 'out', values: inBits(metrics.netOut) },
          ]}
        />
      </div>
    </Card>
  )
}
