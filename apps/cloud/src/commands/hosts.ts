import { hostAdmin, type AdminDeclaration } from '@skerry/command-line'
import { Fault } from '@skerry/fault'
import { isUuid, type HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { printRows, runs, type AdminCommand } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import type { CloudTables } from '../database/tables.ts'
import { declareLost, enableHost, listHosts, revokeHost } from '../hosts/host-states.ts'

const list = runs(hostAdmin.list, (context, requested) =>
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
    const heads = ['id', 'name', 'state', 'enabled', 'seen', 'quarantine', 'vms', 'address', 'port']
    printRows(context, requested, rows, heads)
  }),
)

const change = (
  declared: AdminDeclaration,
  work: (db: Kysely<CloudTables>, id: HostId) => Promise<string>,
): AdminCommand =>
  runs(declared, ({ print }, requested) =>
    withStore(requested, async (db) => {
      const [id = ''] = requested.words
      if (!isUuid(id))
        throw new Fault('invalid', `invalid host id ${id}: see skerry admin host list`)
      const said = await work(db, id as HostId)
      print(requested.json ? JSON.stringify({ host: id, said }) : said)
    }),
  )

export const hosts: readonly AdminCommand[] = [
  list,
  change(hostAdmin.enable, async (db, id) => {
    await enableHost(db, id, true)
    return `host ${id} is enabled: new VMs are placed on it`
  }),
  change(hostAdmin.disable, async (db, id) => {
    await enableHost(db, id, false)
    return `host ${id} is disabled: no new VM is placed on it`
  }),
  change(hostAdmin.revoke, async (db, id) => {
    await revokeHost(db, id)
    return `host ${id} is revoked: cells reject it and close its connections within 5 s\nnext: if it was in networks across hosts, block port 6642 of the network servers for it: its certificate for them is valid for up to 24 h`
  }),
  change(hostAdmin.declareLost, async (db, id) => {
    const count = await declareLost(db, id)
    return `host ${id} is lost with ${count} VMs; their pending tasks have failed\nnext: the owners can delete the VMs, which frees their quota`
  }),
]
