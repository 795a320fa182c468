import { command } from '../command.ts'
import { doAndSay } from '../say.ts'
import { renderTable, type Column } from '../table.ts'
import type { Snapshot } from '../verbs.ts'
import { waitOptions, wantsWait } from '../waiting.ts'

const columns: readonly Column<Snapshot>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'MADE AT', cell: ({ createdAt }) => createdAt },
  { head: 'KEEPS', cell: ({ memory }) => (memory ? 'disk and memory' : 'disk') },
  { head: 'CURRENT', cell: ({ current }) => (current ? 'yes' : '') },
]

export const snapshot = [
  command({
    name: 'snapshot create',
    usage: 'VM NAME',
    summary: 'keep a VM as it is now, with its memory if it runs; a cloud keeps one of each VM',
    examples: [
      'skerry snapshot create web clean',
      'skerry snapshot create web before-upgrade --disk-only',
    ],
    next: 'skerry snapshot revert VM NAME brings it back',
    options: {
      'disk-only': { type: 'boolean', doc: 'leave the memory of a running guest out' },
      ...waitOptions,
    },
    async run(world, { words: [id = '', name = ''], options, json }) {
      const wanted = { name, ...(options['disk-only'] === true && { memory: false as const }) }
      const how = { label: `keeping ${id} as ${name}`, wait: wantsWait(options), json }
      await doAndSay(world, how, (doing) => world.verbs.keep(id, wanted, doing))
    },
  }),
  command({
    name: 'snapshot list',
    usage: 'VM',
    summary: 'the snapshots of a VM, the oldest first',
    examples: ['skerry snapshot list web'],
    next: 'skerry snapshot revert VM NAME brings the VM back to one',
    async run({ verbs, print, colours }, { words: [id = ''], json }) {
      const rows = await verbs.snapshots(id)
      print(json ? JSON.stringify(rows, null, 2) : renderTable(columns, rows, colours))
    },
  }),
  command({
    name: 'snapshot revert',
    usage: 'VM NAME',
    summary: 'bring a VM back to a snapshot; what came after it is lost',
    examples: ['skerry snapshot revert web clean'],
    next: 'skerry start VM, where the snapshot has no memory',
    options: waitOptions,
    async run(world, { words: [id = '', name = ''], options, json }) {
      const how = { label: `bringing ${id} back to ${name}`, wait: wantsWait(options), json }
      await doAndSay(world, how, (doing) => world.verbs.revert(id, name, doing))
    },
  }),
  command({
    name: 'snapshot rm',
    usage: 'VM NAME',
    summary: 'forget a snapshot; the VM stays as it is',
    examples: ['skerry snapshot rm web clean'],
    next: 'skerry snapshot list VM shows what is left',
    options: waitOptions,
    async run(world, { words: [id = '', name = ''], options, json }) {
      const how = { label: `forgetting ${name}`, wait: wantsWait(options), json }
      await doAndSay(world, how, (doing) => world.verbs.forget(id, name, doing))
    },
  }),
]
