import { mebibytes, renderTable, type TableColumn } from '@skerry/command-line'
import { USAGE_SPAN, usageWindowOf, type UsageKey, type UsageSeries } from '@skerry/vm'

import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { drawSparkline } from '../../terminal/sparkline.ts'

const STEP_SECONDS = 60
/** More columns would not fit beside the figures. */
const DRAWN_MAX = 60

export const usage = command({
  name: 'usage',
  usage: 'VM',
  summary: 'show what a VM used of CPU, memory, disk and network in the last hour',
  examples: ['skerry usage web', 'skerry usage web --step 15 --json'],
  next: 'skerry set VM changes its CPUs and memory',
  options: {
    step: {
      type: 'string',
      value: 'SECONDS',
      doc: `seconds for each value, a multiple of 15 (default: ${STEP_SECONDS})`,
    },
  },
  async run({ verbs, print, complain }, { words: [vm = ''], options: { step }, json }) {
    const window = usageWindowOf(step ?? String(STEP_SECONDS))
    if (typeof window === 'string') throw new Failure('usage', `--${window}`)
    const series = await verbs.usage(vm, window)
    if (json) return print(JSON.stringify(series, null, 2))
    if (series.cpuPercent.length > 0) return print(renderTable(columnsOf(series), rows))
    return complain(`${vm} has no values: it is not running, or was started just now`)
  },
})

interface UsageRow {
  readonly name: string
  readonly key: UsageKey
  readonly format: (value: number) => string
  /** The value of the highest bar; default: the highest value. */
  readonly top?: number
}

const RATES = ['B/s', 'kB/s', 'MB/s', 'GB/s'] as const

function perSecond(bytes: number): string {
  const power = Math.min(RATES.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${Number((bytes / 1000 ** power).toFixed(1))} ${RATES[power]}`
}

const rows: readonly UsageRow[] = [
  { name: 'CPU', key: 'cpuPercent', format: (value) => `${Math.round(value)} %`, top: 100 },
  { name: 'memory', key: 'memoryMB', format: mebibytes },
  { name: 'disk read', key: 'diskRead', format: perSecond },
  { name: 'disk write', key: 'diskWrite', format: perSecond },
  { name: 'network in', key: 'netIn', format: perSecond },
  { name: 'network out', key: 'netOut', format: perSecond },
]

function columnsOf(series: UsageSeries): readonly TableColumn<UsageRow>[] {
  const known = ({ key }: UsageRow) => series[key].filter((each) => each !== null)
  const figure = (row: UsageRow, value: number | null | undefined) =>
    value === null || value === undefined ? '' : row.format(value)
  const mean = (values: readonly number[]) =>
    values.length === 0 ? undefined : values.reduce((sum, each) => sum + each) / values.length
  const drawn = Math.min(DRAWN_MAX, series.cpuPercent.length)
  const minutes = Math.round(Math.min(USAGE_SPAN, drawn * series.step) / 60)
  return [
    { head: 'USE', cell: ({ name }) => name },
    { head: 'NOW', align: 'right', cell: (row) => figure(row, series[row.key].at(-1)) },
    { head: 'MEAN', align: 'right', cell: (row) => figure(row, mean(known(row))) },
    {
      head: 'MOST',
      align: 'right',
      cell: (row) => (known(row).length === 0 ? '' : row.format(Math.max(...known(row)))),
    },
    {
      head: `LAST ${minutes} MINUTES`,
      cell: ({ key, top }) => drawSparkline(series[key].slice(-drawn), top),
    },
  ]
}
