import { Fault } from '@skerry/fault'
import type { HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { printRows, type Command } from '../command.ts'
import { isUuid } from '../ids.ts'
import type { Database } from '../store/database.ts'
import { declareLost, enableHost, listHosts, revokeHost } from '../store/host-states.ts'
import { withStore } from './with-store.ts'

const list: Command = {
  name: 'host list',
  words: [],
  options: {},
  summary: 'all hosts: state, whether VMs are placed on them, whether they are seen now',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const rows = (await listHosts(db)).map((host) => ({
        ...{ id: host.id, name: host.name, state: host.state, enabled: host.enabled },
        ...{ seen: host.followed, quarantine: host.quarantine, vms: host.vms },
        ...{ cpus: host.cpus, memoryMiB: host.memory_mib, version: host.version },
        ...{ address: host.address, port: host.port, seenAt: host.seen_at },
      }))
      const heads = [
        'id',
        'name',
        'state',
        'enabled',
        'seen',
        'quarantine',
        'vms',
        'address',
        'port',
      ]
      printRows(world, asked, rows, heads)
    }),
}

const change = (
  name: string,
  summary: string,
  work: (db: Kysely<Database>, id: HostId) => Promise<string>,
): Command => ({
  ...{ name: `host ${name}`, words: ['HOST'], options: {}, summary },
  run: ({ print }, asked) =>
    withStore(asked, async (db) => {
      const [id = ''] = asked.words
      if (!isUuid(id)) throw new Fault('invalid', `${id} is no id: skerry cloud host list`)
      const said = await work(db, id as HostId)
      print(asked.options['json'] === true ? JSON.stringify({ host: id, said }) : said)
    }),
})

export const hosts: readonly Command[] = [
  list,
  change('enable', 'places VMs on it', async (db, id) => {
    await enableHost(db, id, true)
    return `host ${id} is enabled: VMs are placed on it`
  }),
  change('disable', 'places no more VMs on it; those there stay', async (db, id) => {
    await enableHost(db, id, false)
    return `host ${id} is disabled: no VM is placed on it`
  }),
  change('revoke', 'believes it no more, for good; its VMs are UNKNOWN', async (db, id) => {
    await revokeHost(db, id)
    return `host ${id} is revoked: cells refuse it and drop its links within 5 s`
  }),
  change('declare-lost', 'its disks are gone for good: tasks end, VMs are lost', async (db, id) => {
    const count = await declareLost(db, id)
    return `host ${id} is lost, and ${count} VMs with it; what was asked of them has ended in error\nnext: their owners may delete them, which frees what they took`
  }),
]
