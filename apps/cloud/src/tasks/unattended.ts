import type { VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { claimable } from './claimable.ts'

/**
 * An unanswered wake-up is repeated after this time, and each time after twice as long: when all cells are
 * overloaded, more wake-ups would only add load. The interval is at most 8 s, so that tasks continue soon after a
 * backend is back.
 */
const PATIENCE_SECONDS = 2
const DOUBLINGS_MAX = 2

const isDue = sql<boolean>`(vm.holder is null or vm.lease_until < clock_timestamp())
  and (vm.woken_at is null or vm.woken_at < clock_timestamp() - make_interval(secs => ${PATIENCE_SECONDS} * 2 ^ least(vm.wake_attempts, ${DOUBLINGS_MAX})))`

/**
 * VMs whose queue could continue but has no holder. Each is returned to one caller only, which sends the
 * wake-up. The result includes the number of unanswered wake-ups. Organisations take turns, and so do the VMs of one: thousands of
 * tasks that wait for the limit of their organisation must not delay the wake-ups of others.
 */
export async function takeUnattended(
  db: Kysely<CloudTables>,
  limit: number,
): Promise<readonly { readonly id: VmId; readonly wakeAttempts: number }[]> {
  const { rows } = await sql<{ id: VmId; wakeAttempts: number }>`
    update vm set wake_attempts = vm.wake_attempts + 1, woken_at = clock_timestamp()
    from (
      select vm.id from (
        select vm.id, head.id as head,
          row_number() over (partition by vm.org order by vm.woken_at nulls first, head.id) as turn
        from vm
        join lateral (select * from task where task.vm = vm.id and task.state in ('queued', 'running')
          order by position limit 1) head on true
        where vm.id in (select task.vm from task where task.state in ('queued', 'running') and task.vm is not null)
          and ${isDue} and ${claimable}
      ) due join vm on vm.id = due.id
      -- Again, for the values under the lock: another cell may have taken the VM meanwhile.
      where ${isDue}
      order by due.turn, due.head
      limit ${limit}
      for no key update of vm skip locked
    ) waiting
    where vm.id = waiting.id
    returning vm.id, vm.wake_attempts as "wakeAttempts"`.execute(db)
  return rows
}
