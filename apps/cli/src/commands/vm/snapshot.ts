import { renderTable, type TableColumn } from '@skerry/command-line'

import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import type { SnapshotEntry } from '../../vms/vm-backend.ts'

const columns: readonly TableColumn<SnapshotEntry>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'CREATED', cell: ({ createdAt }) => createdAt },
  { head: 'CONTENT', cell: ({ memory }) => (memory ? 'disk and memory' : 'disk') },
  { head: 'CURRENT', cell: ({ current }) => (current ? 'yes' : '') },
]

export const snapshot = [
  command({
    name: 'snapshot create',
    usage: 'VM NAME',
    summary: 'take a snapshot of a VM, with its memory if it runs; a cloud keeps one per VM',
    examples: [
      'skerry snapshot create web clean',
      'skerry snapshot create web before-upgrade --disk-only',
    ],
    next: 'skerry snapshot revert VM NAME returns to it',
    options: {
      'disk-only': { type: 'boolean', doc: 'do not save the memory of a running guest' },
      ...waitOptions,
    },
    async run(context, { words: [id = '', name = ''], options, json }) {
      const wanted = { name, ...(options['disk-only'] === true && { memory: false as const }) }
      const how = { label: `taking snapshot ${name} of ${id}`, wait: wantsWait(options), json }
      await doAndSay(context, how, (doing) => context.verbs.keep(id, wanted, doing))
    },
  }),
  command({
    name: 'snapshot list',
    usage: 'VM',
    summary: 'list the snapshots of a VM, oldest first',
    examples: ['skerry snapshot list web'],
    next: 'skerry snapshot revert VM NAME returns to one',
    async run({ verbs, print, colours }, { words: [id = ''], json }) {
      const rows = await verbs.snapshots(id)
      print(json ? JSON.stringify(rows, null, 2) : renderTable(columns, rows, colours))
    },
  }),
  command({
    name: 'snapshot revert',
    usage: 'VM NAME',
    summary: 'revert a VM to a snapshot; later changes are lost',
    examples: ['skerry snapshot revert web clean'],
    next: 'skerry start VM if the snapshot has no memory',
    options: waitOptions,
    async run(context, { words: [id = '', name = ''], options, json }) {
      const how = { label: `reverting ${id} to ${name}`, wait: wantsWait(options), json }
      await doAndSay(context, how, (doing) => context.verbs.revert(id, name, doing))
    },
  }),
  command({
    name: 'snapshot rm',
    usage: 'VM NAME',
    summary: 'delete a snapshot; the VM is not changed',
    examples: ['skerry snapshot rm web clean'],
    next: 'skerry snapshot list VM lists the others',
    options: waitOptions,
    async run(context, { words: [id = '', name = ''], options, json }) {
      const how = { label: `deleting snapshot ${name}`, wait: wantsWait(options), json }
      await doAndSay(context, how, (doing) => context.verbs.forget(id, name, doing))
    },
  }),
]
