import { linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, type Element } from '@skerry/xml'

import { adminOrg } from '../../cloud/admin-org.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'

/** Units times milliseconds, as in the document. */
const amounts = [
  'vmMilliseconds',
  'runningVmMilliseconds',
  'cpuMilliseconds',
  'runningCpuMilliseconds',
  'memoryMBMilliseconds',
  'runningMemoryMBMilliseconds',
  'storageMBMilliseconds',
  'templateMBMilliseconds',
  'externalAddressMilliseconds',
] as const

type Period = Readonly<Record<(typeof amounts)[number], number>> & {
  readonly from: string
  readonly to: string
  readonly complete: boolean
}

const HOUR_MS = 3_600_000
const GIB_HOUR_MS = HOUR_MS * 1024

const column = (
  head: string,
  name: (typeof amounts)[number],
  per = HOUR_MS,
): TableColumn<Period> => ({
  head,
  align: 'right',
  cell: (period) => (period[name] / per).toFixed(2),
})

/** A period of whole days has no time of day. */
const timeText = (time: string): string =>
  time.endsWith('T00:00:00.000Z') ? time.slice(0, 10) : `${time.slice(0, 16)}Z`

const columns: readonly TableColumn<Period>[] = [
  {
    head: 'FROM',
    cell: ({ from, complete }) => `${timeText(from)}${complete ? '' : ', so far'}`,
    colour: ({ complete }) => (complete ? undefined : 'yellow'),
  },
  column('VM H', 'vmMilliseconds'),
  column('RUNNING VM H', 'runningVmMilliseconds'),
  column('CPU H', 'cpuMilliseconds'),
  column('MEMORY GIB H', 'memoryMBMilliseconds', GIB_HOUR_MS),
  column('STORAGE GIB H', 'storageMBMilliseconds', GIB_HOUR_MS),
  column('TEMPLATE GIB H', 'templateMBMilliseconds', GIB_HOUR_MS),
  column('ADDRESS H', 'externalAddressMilliseconds'),
]

const periodIn = (node: Element): Period => ({
  from: attribute(node, 'from') ?? '',
  to: attribute(node, 'to') ?? '',
  complete: attribute(node, 'complete') === 'true',
  ...(Object.fromEntries(
    amounts.map((name) => [name, Number(attribute(node, name) ?? 0)]),
  ) as Record<(typeof amounts)[number], number>),
})

export const orgUsage = command({
  name: 'org usage',
  asks: 'cloud',
  usage: '[ORG]',
  summary: 'show what an organisation used, by day (its administrators only)',
  examples: [
    'skerry org usage',
    'skerry org usage blue --from 2026-11-01 --to 2026-12-01 --csv',
    'skerry org usage --by hour --from 2026-11-18',
  ],
  next: 'skerry quota info ORG shows what it uses now',
  options: {
    from: { type: 'string', value: 'TIME', doc: 'first day or hour in UTC (default: this month)' },
    to: { type: 'string', value: 'TIME', doc: 'the end, which is not included' },
    by: { type: 'string', value: 'STEP', doc: 'hour, day or month (default: day)' },
    csv: { type: 'boolean', doc: 'CSV with the columns of FOCUS, in hours' },
  },
  async run(context, { words: [name], options, json }) {
    const { csv = false, ...range } = options
    if (csv && json) throw new Failure('usage', 'give --json or --csv, not both')
    const { cloud } = sessionIn(context)
    const usage = linkTo(await adminOrg(sessionIn(context), name), 'down', 'admin.usage')
    const query = new URLSearchParams(range).toString()
    const at = (href: string): string => (query === '' ? href : `${href}?${query}`)
    const document = await cloud.get(at(usage))
    if (csv) return context.write(await cloud.getText(at(linkTo(document, 'alternate'))))
    const periods = childrenByLocalName(document, 'Period').map(periodIn)
    const { print, colours } = context
    print(json ? JSON.stringify(periods, null, 2) : renderTable(columns, periods, colours))
  },
})
