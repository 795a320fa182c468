import { Fault, type FaultKind } from '@skerry/fault'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'
import { lockClaimed, writeClaimed, type VmRow } from '../inventory/vms.ts'
import { requireQuota } from '../tenants/quotas.ts'

/** A task that stores data in addition to the disk of its VM. */
export interface Storing {
  readonly vm: VmId
  readonly fencingToken: string
  readonly task: TaskId
}

export interface Need {
  /** Used in error messages. */
  readonly what: string
  /** The column that counts it until the result is known. */
  readonly column: 'taking_mib' | 'saving_mib'
  /** The maximum size. */
  readonly mib: (vm: VmRow) => number
}

/**
 * Reserves the storage of a task before the request to its host: the host must have the space, and the quota must cover growth
 * since the request. Otherwise nothing is written.
 */
export async function reserveRoom(
  db: Kysely<CloudTables>,
  { vm: id, fencingToken, task }: Storing,
  { what, column, mib }: Need,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, fencingToken)
    if (vm.reserved_task === task) return
    const need = mib(vm)
    const { stores_mib: requested } = await tx
      .selectFrom('task')
      .select('stores_mib')
      .where('id', '=', task)
      .executeTakeFirstOrThrow()
    await tx
      .updateTable('vm')
      .set({
        // A snapshot that an earlier task may have left still counts; memory is saved only once.
        ...(column === 'taking_mib'
          ? { taking_mib: vm.taking_mib + need, taking_asked: false }
          : { saving_mib: need }),
        reserved_task: task,
      })
      .where('id', '=', id)
      .execute()
    if (need > 0 && vm.host !== null) {
      await requireHostRoom(tx, vm.host, `${what} of VM ${vm.name}`, need)
    }
    if (need === requested) return
    await tx.updateTable('task').set({ stores_mib: need }).where('id', '=', task).execute()
    if (need > requested) await requireQuota(tx, vm.org, 'store')
  })
}

/** The trigger that counts placements has already counted the need. */
async function requireHostRoom(tx: Tx, host: HostId, what: string, need: number): Promise<void> {
  const { rows } = await sql<{ fits: boolean }>`
    select disk_mib >= placed_disk_mib as fits from host where id = ${host}`.execute(tx)
  if (rows[0]?.fits !== false) return
  throw new Fault(
    'no-room',
    `${what} may take ${need} MiB; its host does not have that much space`,
    {
      hint: 'remove snapshots or delete VMs, or ask the administrator to free space on that host',
    },
  )
}

/** Faults of a host that mean that it has changed nothing. */
const refusals: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'invalid',
  'not-found',
  'conflict',
  'wrong-state',
  'no-room',
  'gone',
])

/**
 * Releases the reservation of a snapshot that was not taken. If the host got the request and the result is unknown, the
 * snapshot counts until the next one is taken or all are removed.
 */
export async function releaseSnapshot(
  db: Kysely<CloudTables>,
  { vm: id, fencingToken, task: taskId }: Storing,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, fencingToken)
    if (vm.reserved_task !== taskId) return
    const task = await tx
      .selectFrom('task')
      .select(['stores_mib', 'attempts', 'fault'])
      .where('id', '=', taskId)
      .executeTakeFirstOrThrow()
    const isRefused = task.attempts === 0 && task.fault !== null && refusals.has(task.fault)
    const isLeft = vm.taking_asked && !isRefused
    await writeClaimed(tx, id, fencingToken, {
      ...(!isLeft && { taking_mib: Math.max(0, vm.taking_mib - task.stores_mib) }),
      taking_asked: false,
      reserved_task: null,
    })
  })
}
