// What an organisation used: charts of the last seven days, and the sums of this month.
import { useState } from 'react'

import { now } from '../../api/clock-and-ids.ts'
import { linkOf, type AdminOrgDocument, type OrgUsageDocument } from '../../api/documents.ts'
import { Card } from '../../components/card.tsx'
import { Chart } from '../../components/chart.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Table } from '../../components/table.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { shellQuoted } from '../../model/commands.ts'
import { en } from '../../text/en.ts'
import { formatDecimal, formatHour, formatMiB } from '../../text/format.ts'
import { hoursIn, meansOf, usageMeters, usageStarts, wholeHours } from './org-usage.ts'

import page from '../../styles/page.module.css'
import style from './usage-tab.module.css'

export function UsageTab({ org }: { readonly org: AdminOrgDocument }) {
  const [{ week, month }] = useState(() => usageStarts(now()))
  const href = linkOf(org, 'down', 'admin.usage')
  const at = (query: string): string | undefined => href && `${href}?${query}`
  const hours = useDocument<OrgUsageDocument>(at(`from=${week}&by=hour`))
  const sums = useDocument<OrgUsageDocument>(at(`from=${month}&by=month`))
  const failed = [hours, sums].filter(({ error }) => error)
  const error = hours.error ?? sums.error
  if (error) {
    return (
      <ErrorState
        error={error}
        onRetry={() => {
          for (const each of failed) void each.refetch()
        }}
      />
    )
  }
  return (
    <div className={page['cards']}>
      {hours.data && <UsageCharts usage={hours.data} />}
      {sums.data && <MonthCard usage={sums.data} month={month} />}
      <Card title="On a terminal">
        <div className={page['stack']}>
          <CommandLine text={`skerry org usage ${shellQuoted(org.name)}`} />
          <CommandLine text={`skerry org usage ${shellQuoted(org.name)} --from ${month} --csv`} />
        </div>
      </Card>
    </div>
  )
}

const HOUR_SECONDS = 3600

function UsageCharts({ usage }: { readonly usage: OrgUsageDocument }) {
  const [cursor, setCursor] = useState<number>()
  const hours = wholeHours(usage.period)
  const time = {
    stepSeconds: HOUR_SECONDS,
    until: hours.at(-1)?.from ?? '',
    formatTime: formatHour,
    cursor,
    onCursor: setCursor,
  }
  if (hours.length === 0) return null
  return (
    <Card title="Last seven days" flush>
      <div className={style['charts']}>
        <Chart
          {...time}
          title="CPUs"
          format={formatDecimal}
          series={[
            { name: 'all', values: meansOf(hours, 'cpuMilliseconds') },
            { name: 'running', values: meansOf(hours, 'runningCpuMilliseconds') },
          ]}
        />
        <Chart
          {...time}
          title="Memory"
          format={formatMiB}
          series={[
            { name: 'all', values: meansOf(hours, 'memoryMBMilliseconds') },
            { name: 'running', values: meansOf(hours, 'runningMemoryMBMilliseconds') },
          ]}
        />
        <Chart
          {...time}
          title="Storage"
          format={formatMiB}
          series={[
            { name: 'VMs', values: meansOf(hours, 'storageMBMilliseconds') },
            { name: 'templates', values: meansOf(hours, 'templateMBMilliseconds') },
          ]}
        />
        <Chart
          {...time}
          title="External addresses"
          format={formatDecimal}
          series={[
            { name: 'External addresses', values: meansOf(hours, 'externalAddressMilliseconds') },
          ]}
        />
      </div>
    </Card>
  )
}

interface MonthCardProps {
  readonly usage: OrgUsageDocument
  readonly month: string
}

function MonthCard({ usage, month }: MonthCardProps) {
  // A page that is open since the month before has that one, too.
  const period = usage.period.at(-1)
  const table = linkOf(usage, 'alternate')
  return (
    <Card
      title="This month so far"
      flush
      tools={
        table !== undefined && (
          <a href={`${table}?from=${month}`} download={`usage-${month}.csv`}>
            CSV by day
          </a>
        )
      }
    >
      <Table
        label="This month so far"
        rows={period ? usageMeters : []}
        keyOf={({ key }) => key}
        empty="Nothing was used."
        columns={[
          {
            key: 'meter',
            title: 'What',
            isEssential: true,
            cell: ({ key }) => en.usage[key],
          },
          {
            key: 'hours',
            title: 'Hours',
            isEssential: true,
            isNumeric: true,
            cell: (meter) =>
              period &&
              `${formatDecimal(hoursIn(period, meter))}${meter.isMemory ? ' GiB h' : ' h'}`,
          },
        ]}
      />
    </Card>
  )
}
