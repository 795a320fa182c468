import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Database } from '../store/database.ts'
import { tell } from '../store/events.ts'
import type { Tx } from '../world.ts'

interface Counts {
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

interface Counted {
  readonly id: HostId
  readonly kept: Counts
  readonly found: Counts
}

/** What is counted on a host, beside what is placed there. */
const counted = sql`select host.id,
    jsonb_build_object('cpus', placed_cpus, 'memoryMiB', placed_memory_mib, 'diskMiB', placed_disk_mib) as kept,
    jsonb_build_object('cpus', sum.cpus, 'memoryMiB', sum.memory, 'diskMiB', sum.disk) as found
  from host, lateral (select coalesce(sum(vm.cpus), 0) as cpus, coalesce(sum(vm.memory_mib), 0) as memory,
      coalesce(sum(vm.disk_mib), 0) as disk
    from vm where vm.host = host.id and vm.deleted_at is null) sum
  where (placed_cpus, placed_memory_mib, placed_disk_mib) is distinct from (sum.cpus, sum.memory, sum.disk)`

/**
 * What is placed on a host is counted by a trigger, and placement trusts the sums. One that is wrong nevertheless, by somebody's
 * hand or a restore of one table, is put right, and people are told. Answers with the hosts that were wrong.
 */
export async function reconcileCounts(db: Kysely<Database>): Promise<readonly HostId[]> {
  const { rows } = await sql<Counted>`${counted}`.execute(db)
  const mended: HostId[] = []
  for (const { id } of rows) {
    if (await db.transaction().execute((tx) => mend(tx, id))) mended.push(id)
  }
  return mended
}

/** Under the host's lock, which everybody who places or takes away needs before he can commit. */
async function mend(tx: Tx, host: HostId): Promise<boolean> {
  await sql`select from host where id = ${host} for no key update`.execute(tx)
  const { rows } = await sql<Counted>`${counted} and host.id = ${host}`.execute(tx)
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
  await tell(tx, { kind: 'host.recounted', host, what: { kept, found } })
  return true
}
