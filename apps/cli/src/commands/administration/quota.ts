import { linkTo } from '@skerry/cloud-client'
import { mebibytes, renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import { adminOrg } from '../../cloud/admin-org.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { sizeMiB, wholeNumber } from '../../terminal/number.ts'

/** The limits: attribute in the document, and option. */
const bounds = [
  { key: 'vms', option: 'vms', what: 'VMs' },
  { key: 'runningVms', option: 'running-vms', what: 'running VMs' },
  { key: 'cpus', option: 'cpus', what: 'CPUs' },
  { key: 'memoryMB', option: 'memory', what: 'memory', size: true },
  { key: 'storageMB', option: 'storage', what: 'storage', size: true },
  { key: 'networks', option: 'networks', what: 'networks' },
  { key: 'edgeGateways', option: 'edge-gateways', what: 'edge gateways' },
  { key: 'externalAddresses', option: 'external-addresses', what: 'external addresses' },
] as const

interface Bound {
  readonly what: string
  readonly used: number | null
  readonly most: number | null
  readonly size: boolean
}

const amountText = (size: boolean, count: number | null): string =>
  count === null ? '' : size ? mebibytes(count) : String(count)

const columns: readonly TableColumn<Bound>[] = [
  { head: 'RESOURCE', cell: ({ what }) => what },
  { head: 'USED', align: 'right', cell: ({ used, size }) => amountText(size, used) },
  {
    head: 'LIMIT',
    align: 'right',
    cell: ({ most, size }) => (most === null ? 'none' : amountText(size, most)),
  },
]

const quotaIn = (org: Element): Readonly<Record<string, string>> =>
  childrenByLocalName(org, 'Quota')[0]?.attributes ?? {}

const boundsOf = (org: Element): readonly Bound[] => {
  const counted = childrenByLocalName(org, 'Used')[0]?.attributes ?? {}
  const quota = quotaIn(org)
  return bounds.map(({ key, what, ...rest }) => ({
    what,
    size: 'size' in rest,
    used: counted[key] === undefined ? null : Number(counted[key]),
    most: quota[key] === undefined ? null : Number(quota[key]),
  }))
}

const bodyOf = (rows: readonly Bound[]) =>
  Object.fromEntries(rows.map(({ most, used }, at) => [bounds[at]?.key ?? '', { used, most }]))

const bound = (value: 'N' | 'SIZE', what: string) =>
  ({ type: 'string', value, doc: `${what}, or "none"` }) as const

export const quota = [
  command({
    name: 'quota info',
    asks: 'cloud',
    usage: '[ORG]',
    summary: 'show the quota and usage of an organisation (its administrators only)',
    examples: ['skerry quota info', 'skerry quota info blue'],
    next: 'skerry quota set ORG changes it',
    async run(context, { words: [name], json }) {
      const side = sessionIn(context)
      const org = await adminOrg(side, name)
      const rows = boundsOf(org)
      const { print, colours } = context
      print(json ? JSON.stringify(bodyOf(rows), null, 2) : renderTable(columns, rows, colours))
    },
  }),
  command({
    name: 'quota set',
    asks: 'cloud',
    usage: 'ORG',
    summary: 'set the quota of an organisation (cloud administrators only)',
    examples: ['skerry quota set blue --vms 20 --memory 64G', 'skerry quota set blue --cpus none'],
    next: 'skerry quota info ORG shows the result',
    options: {
      vms: bound('N', 'maximum number of VMs'),
      'running-vms': bound('N', 'maximum number of running VMs'),
      cpus: bound('N', 'maximum number of CPUs'),
      memory: bound('SIZE', 'maximum memory'),
      storage: bound('SIZE', 'maximum storage: disks, snapshots and saved memory'),
      networks: bound('N', 'maximum number of networks'),
      'edge-gateways': bound('N', 'maximum number of edge gateways'),
      'external-addresses': bound('N', 'maximum number of external addresses that it took'),
    },
    async run(context, { words: [name = ''], options, json }) {
      if (Object.keys(options).length === 0) {
        throw new Failure('usage', 'no change given', {
          hint: 'skerry quota set --help',
        })
      }
      const side = sessionIn(context)
      const org = await adminOrg(side, name)
      // The request replaces all limits, so the current ones are sent along.
      const next: Record<string, string | number | undefined> = { ...quotaIn(org) }
      for (const { key, option, ...rest } of bounds) {
        const value = options[option]
        if (value === undefined) continue
        const read = 'size' in rest ? sizeMiB : wholeNumber
        next[key] = value === 'none' ? undefined : read(`--${option}`, value)
      }
      const body = element('AdminOrg', {}, element('Quota', next))
      const changed = await side.cloud.act('PUT', linkTo(org, 'edit'), { body })
      const rows = boundsOf(changed ?? org)
      const text = `the quota of ${attribute(org, 'name')} is changed`
      context.print(json ? JSON.stringify(bodyOf(rows), null, 2) : text)
    },
  }),
]
