import { command } from '../command.ts'
import { path } from '../local-client.ts'
import { showProgress } from '../progress.ts'
import { renderTable, type Column } from '../table.ts'

interface Snapshot {
  readonly name: string
  readonly createdAt: string
  readonly memory: boolean
  readonly current: boolean
}

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
    summary: 'keep a VM as it is now, with its memory if it runs',
    examples: [
      'skerry snapshot create web clean',
      'skerry snapshot create web before-upgrade --disk-only',
    ],
    next: 'skerry snapshot revert VM NAME brings it back',
    options: { 'disk-only': { type: 'boolean', doc: 'leave the memory of a running guest out' } },
    async run(world, { words: [id = '', name = ''], options, json }) {
      const memory = options['disk-only'] === true ? { memory: false } : {}
      const made = await showProgress(world, `keeping ${id} as ${name}`, async () =>
        world.api.ask('POST', path('vms', id, 'snapshots'), { body: { name, ...memory } }),
      )
      world.print(json ? JSON.stringify(made.body, null, 2) : `${id} is kept as ${name}`)
    },
  }),
  command({
    name: 'snapshot list',
    usage: 'VM',
    summary: 'the snapshots of a VM, the oldest first',
    examples: ['skerry snapshot list web'],
    next: 'skerry snapshot revert VM NAME brings the VM back to one',
    async run({ api, print, colours }, { words: [id = ''], json }) {
      const { body } = await api.ask<readonly Snapshot[]>('GET', path('vms', id, 'snapshots'))
      print(json ? JSON.stringify(body, null, 2) : renderTable(columns, body, colours))
    },
  }),
  command({
    name: 'snapshot revert',
    usage: 'VM NAME',
    summary: 'bring a VM back to a snapshot; what came after it is lost',
    examples: ['skerry snapshot revert web clean'],
    next: 'skerry start VM, where the snapshot has no memory',
    async run(world, { words: [id = '', name = ''], json }) {
      const { body } = await showProgress(world, `bringing ${id} back to ${name}`, async () =>
        world.api.ask<{ message: string }>('POST', path('vms', id, 'snapshots', name, 'revert')),
      )
      const text = `${id} is as it was at ${name}, ${body.message}`
      world.print(json ? JSON.stringify(body, null, 2) : text)
    },
  }),
  command({
    name: 'snapshot rm',
    usage: 'VM NAME',
    summary: 'forget a snapshot; the VM stays as it is',
    examples: ['skerry snapshot rm web clean'],
    next: 'skerry snapshot list VM shows what is left',
    async run(world, { words: [id = '', name = ''], json }) {
      await showProgress(world, `forgetting ${name}`, async () =>
        world.api.ask('DELETE', path('vms', id, 'snapshots', name)),
      )
      world.print(json ? JSON.stringify({ removed: name }, null, 2) : `${name} is forgotten`)
    },
  }),
]
