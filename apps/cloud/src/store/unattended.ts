import type { VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { claimable } from './claimable.ts'
import type { Database } from './database.ts'

/**
 * A bell that nobody answered is rung again after this long, and each time after twice as long: where there
 * is more to do than all cells can, ringing would only make it more. Never later than after 8 s: when an
 * engine is back, what waited for it must not wait long.
 */
const PATIENCE_SECONDS = 2
const DOUBLINGS_MAX = 2

/**
 * VMs whose queue could go on but has nobody who looks at it. Each is given to one asker only, who
 * rings; `rings` says how often that was in vain.
 */
export async function takeUnattended(
  db: Kysely<Database>,
  limit: number,
): Promise<readonly { readonly id: VmId; readonly rings: number }[]> {
  const { rows } = await sql<{ id: VmId; rings: number }>`
    update vm set rings = vm.rings + 1, rung_at = clock_timestamp()
    from (
      select vm.id from vm
      join lateral (select * from task where task.vm = vm.id and task.state in ('queued', 'running')
        order by place limit 1) head on true
      where vm.id in (select task.vm from task where task.state in ('queued', 'running') and task.vm is not null)
        and (vm.holder is null or vm.lease_until < clock_timestamp())
        and (vm.rung_at is null or vm.rung_at < clock_timestamp() - make_interval(secs => ${PATIENCE_SECONDS} * 2 ^ least(vm.rings, ${DOUBLINGS_MAX})))
        and ${claimable}
      order by head.id
      limit ${limit}
      for no key update of vm skip locked
    ) waiting
    where vm.id = waiting.id
    returning vm.id, vm.rings`.execute(db)
  return rows
}
