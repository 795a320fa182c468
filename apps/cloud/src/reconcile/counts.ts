import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'

interface Counts {
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

interface MiscountedHost {
  readonly id: HostId
  readonly kept: Counts
  readonly found: Counts
}

/** Hosts whose stored sums differ from the VMs placed there. */
const counted = sql`select host.id,
    jsonb_build_object('cpus', placed_cpus, 'memoryMiB', placed_memory_mib, 'diskMiB', placed_disk_mib) as kept,
    jsonb_build_object('cpus', sum.cpus, 'memoryMiB', sum.memory, 'diskMiB', sum.disk) as found
  from host, lateral (select coalesce(sum(vm.cpus), 0) as cpus, coalesce(sum(vm.memory_mib), 0) as memory,
      coalesce(sum(vm.stored_mib), 0) as disk
    from vm where vm.host = host.id and vm.deleted_at is null) sum
  where (placed_cpus, placed_memory_mib, placed_disk_mib) is distinct from (sum.cpus, sum.memory, sum.disk)`

/**
 * A trigger counts what is placed on a host, and placement trusts the sums. A sum can still be wrong, after a manual change or a
 * restore of one table; then it is corrected and an event is emitted. Returns the hosts that were wrong.
 */
export async function reconcileCounts(db: Kysely<CloudTables>): Promise<readonly HostId[]> {
  const { rows } = await sql<MiscountedHost>`${counted}`.execute(db)
  const fixed: HostId[] = []
  for (const { id } of rows) {
    if (await db.transaction().execute((tx) => fixCounts(tx, id))) fixed.push(id)
  }
  return fixed
}

/** Runs under the host's lock, which every placement and removal needs before it can commit. */
async function fixCounts(tx: Tx, host: HostId): Promise<boolean> {
  await sql`select from host where id = ${host} for no key update`.execute(tx)
  const { rows } = await sql<MiscountedHost>`${counted} and host.id = ${host}`.execute(tx)
  const [wrong] = rows
  if (!wrong) return false
  const { kept, found } = wrong
  await tx
    .updateTable('host')
    .set({
      placed_cpus: found.cpus,
      placed_memory_mib: found.memoryMiB,
      placed_disk_mib: found.diskMiB,
    })
    .where('id', '=', host)
    .execute()
  await emitEvent(tx, { kind: 'host.recounted', host, details: { kept, found } })
  return true
}
