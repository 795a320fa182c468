import { linkTo, query, quoted } from '@skerry/cloud-client'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import { adminOrg, ownOrg } from '../admin-org.ts'
import { sideIn } from '../cloud-side.ts'
import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { sizeMiB, wholeNumber } from '../number.ts'
import { mebibytes, renderTable, type Column } from '../table.ts'

/** What is bounded: its name in the document, and its option. */
const bounds = [
  { key: 'vms', option: 'vms', what: 'VMs' },
  { key: 'runningVms', option: 'running-vms', what: 'VMs that run' },
  { key: 'cpus', option: 'cpus', what: 'processors' },
  { key: 'memoryMB', option: 'memory', what: 'memory', size: true },
  { key: 'storageMB', option: 'storage', what: 'disks', size: true },
] as const

interface Bound {
  readonly what: string
  readonly used: number | null
  readonly most: number | null
  readonly size: boolean
}

const shown = (size: boolean, count: number | null): string =>
  count === null ? '' : size ? mebibytes(count) : String(count)

const columns: readonly Column<Bound>[] = [
  { head: 'OF', cell: ({ what }) => what },
  { head: 'THERE ARE', align: 'right', cell: ({ used, size }) => shown(size, used) },
  {
    head: 'AT MOST',
    align: 'right',
    cell: ({ most, size }) => (most === null ? 'no bound' : shown(size, most)),
  },
]

const quotaIn = (org: Element): Readonly<Record<string, string>> =>
  childrenByLocalName(org, 'Quota')[0]?.attributes ?? {}

const boundsOf = (org: Element, used: Readonly<Record<string, string>> = {}): readonly Bound[] => {
  const counted: Readonly<Record<string, string | undefined>> = {
    ...{ vms: used['numberOfVMs'], runningVms: used['numberOfRunningVMs'] },
  }
  const quota = quotaIn(org)
  return bounds.map(({ key, what, ...rest }) => ({
    ...{ what, size: 'size' in rest },
    used: counted[key] === undefined ? null : Number(counted[key]),
    most: quota[key] === undefined ? null : Number(quota[key]),
  }))
}

const bodyOf = (rows: readonly Bound[]) =>
  Object.fromEntries(rows.map(({ most, used }, at) => [bounds[at]?.key ?? '', { used, most }]))

const bound = (value: 'N' | 'SIZE', what: string) =>
  ({ type: 'string', value, doc: `${what}, or none` }) as const

export const quota = [
  command({
    name: 'quota show',
    asks: 'cloud',
    usage: '[ORG]',
    summary: 'what an organisation may have and has, for its administrators',
    examples: ['skerry quota show', 'skerry quota show blue'],
    next: 'skerry quota set ORG changes it',
    async run(world, { words: [name], json }) {
      const side = sideIn(world)
      const org = await adminOrg(side, name)
      const filter = `name==${quoted(name ?? ownOrg(side))}`
      const [used] = await Array.fromAsync(query(side.cloud, { type: 'organization', filter }))
      const rows = boundsOf(org, used)
      const { print, colours } = world
      print(json ? JSON.stringify(bodyOf(rows), null, 2) : renderTable(columns, rows, colours))
    },
  }),
  command({
    name: 'quota set',
    asks: 'cloud',
    usage: 'ORG',
    summary: 'bound what an organisation may have, for administrators of the cloud',
    examples: ['skerry quota set blue --vms 20 --memory 64G', 'skerry quota set blue --cpus none'],
    next: 'skerry quota show ORG tells what holds now',
    options: {
      vms: bound('N', 'so many VMs'),
      'running-vms': bound('N', 'so many VMs that run'),
      cpus: bound('N', 'so many processors'),
      memory: bound('SIZE', 'so much memory'),
      storage: bound('SIZE', 'so much on disks'),
    },
    async run(world, { words: [name = ''], options, json }) {
      if (Object.keys(options).length === 0) {
        throw new Failure('usage', 'nothing to change is given', {
          hint: 'skerry quota set --help',
        })
      }
      const side = sideIn(world)
      const org = await adminOrg(side, name)
      // What a body does not name has no bound afterwards, so that what holds is sent along.
      const next: Record<string, string | number | undefined> = { ...quotaIn(org) }
      for (const { key, option, ...rest } of bounds) {
        const told = options[option]
        if (told === undefined) continue
        const read = 'size' in rest ? sizeMiB : wholeNumber
        next[key] = told === 'none' ? undefined : read(`--${option}`, told)
      }
      const body = element('AdminOrg', {}, element('Quota', next))
      const changed = await side.cloud.act('PUT', linkTo(org, 'edit'), { body })
      const rows = boundsOf(changed ?? org)
      const text = `the quota of ${attribute(org, 'name')} is changed`
      world.print(json ? JSON.stringify(bodyOf(rows), null, 2) : text)
    },
  }),
]
