import { Fault } from '@skerry/fault'
import { isUuid, type HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { printRows, type AdminCommand } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import type { CloudTables } from '../database/tables.ts'
import { declareLost, enableHost, listHosts, revokeHost } from '../hosts/host-states.ts'

const list: AdminCommand = {
  name: 'host list',
  words: [],
  options: {},
  summary: 'list hosts: state, whether VMs are placed on them, whether they are connected',
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const rows = (await listHosts(db)).map((host) => ({
        id: host.id,
        name: host.name,
        state: host.state,
        enabled: host.enabled,
        seen: host.followed,
        quarantine: host.quarantine,
        vms: host.vms,
        cpus: host.cpus,
        memoryMiB: host.memory_mib,
        version: host.version,
        address: host.address,
        port: host.port,
        seenAt: host.seen_at,
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
      printRows(context, requested, rows, heads)
    }),
}

const change = (
  name: string,
  summary: string,
  work: (db: Kysely<CloudTables>, id: HostId) => Promise<string>,
): AdminCommand => ({
  name: `host ${name}`,
  words: ['HOST'],
  options: {},
  summary,
  run: ({ print }, requested) =>
    withStore(requested, async (db) => {
      const [id = ''] = requested.words
      if (!isUuid(id))
        throw new Fault('invalid', `invalid host id ${id}: see skerry cloud host list`)
      const said = await work(db, id as HostId)
      print(requested.options['json'] === true ? JSON.stringify({ host: id, said }) : said)
    }),
})

export const hosts: readonly AdminCommand[] = [
  list,
  change('enable', 'place new VMs on a host again', async (db, id) => {
    await enableHost(db, id, true)
    return `host ${id} is enabled: new VMs are placed on it`
  }),
  change('disable', 'place no new VMs on a host; its VMs stay', async (db, id) => {
    await enableHost(db, id, false)
    return `host ${id} is disabled: no new VM is placed on it`
  }),
  change('revoke', 'revoke a host for good; its VMs become UNKNOWN', async (db, id) => {
    await revokeHost(db, id)
    return `host ${id} is revoked: cells reject it and close its connections within 5 s`
  }),
  change(
    'declare-lost',
    'declare that the disks of a host are lost for good: its tasks fail, its VMs are lost',
    async (db, id) => {
      const count = await declareLost(db, id)
      return `host ${id} is lost with ${count} VMs; their pending tasks have failed\nnext: the owners can delete the VMs, which frees their quota`
    },
  ),
]
