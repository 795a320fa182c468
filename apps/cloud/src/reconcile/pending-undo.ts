import type { HostApi } from '@skerry/host-api'
import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { executePendingUndos } from '../hosts/follow-host.ts'
import { open } from '../tasks/claimable.ts'

/** Undos pending at a hello are executed then; a pass takes only older ones, so that it disturbs no session that begins. */
const LEFT_SECONDS = 30

/**
 * Pending undos are executed at a host's next hello. One that is stored just after a hello would wait for the next one, and block
 * all tasks of its VM: so a pass executes it at a reachable host. Returns the VMs whose queues can continue.
 */
export async function reconcilePendingUndo(
  db: Kysely<CloudTables>,
  hosts: (id: HostId) => HostApi,
  signal: AbortSignal,
): Promise<readonly VmId[]> {
  const { rows } = await sql<{ host: HostId; vms: VmId[] }>`
    select pending_undo.host, array_agg(pending_undo.vm) as vms from pending_undo join host on host.id = pending_undo.host
    where ${open} and not (select recovering from cloud)
      and pending_undo.made_at < clock_timestamp() - make_interval(secs => ${LEFT_SECONDS})
    group by pending_undo.host`.execute(db)
  const undone = await Promise.allSettled(
    rows.map(async ({ host, vms }) => {
      await executePendingUndos(db, host, hosts(host), signal)
      return vms
    }),
  )
  // If a host is unreachable again, its undos run at its next hello or in the next pass.
  return undone.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
}
