import { Fault } from '@skerry/fault'
import type { TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { emitEvents } from '../database/events.ts'
import type { TaskRow, Tx } from '../database/tables.ts'
import { decideFor, type LostReason, type Status } from '../domain/vm-status.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { Operation } from './operation.ts'

/** The other fields of a task besides its operation. */
export interface TaskRequest {
  readonly owner: string
  readonly input?: unknown
  readonly id?: TaskId
  readonly parent?: TaskId
  readonly rank?: number
  readonly strict?: boolean
  /** Its parent is a bulk operation. */
  readonly inBulk?: boolean
}

/** Checks the state that the VM will have after its queued tasks: a busy VM queues tasks, it never rejects them as busy. */
export function judge(vm: VmRow, operation: Operation): 'go' | 'nothing' {
  if (vm.closed) throw new Fault('conflict', `VM ${vm.name} is being deleted`)
  const decision = decideFor(vm, vm.projected_status, operation)
  if (decision !== 'refuse') return decision
  if (vm.lost_reason !== null) throw new Fault('conflict', whyOnlyDelete(vm.name, vm.lost_reason))
  throw new Fault(
    'conflict',
    `VM ${vm.name} is ${vm.projected_status}; ${operation.name} needs ${operation.from.join(' or ')}`,
  )
}

const whyOnlyDelete = (name: string, lost: LostReason): string =>
  lost === 'LOST'
    ? `VM ${name} was lost with its host; it can only be deleted`
    : `VM ${name} is missing since a restore: its host does not have it; it can only be deleted`

/** Appends a task to the queue of a VM whose row is locked: task, intent and event. */
export async function enqueue(
  tx: Tx,
  vm: VmRow,
  operation: Operation,
  request: TaskRequest,
): Promise<TaskRow> {
  const [task] = await enqueueEach(tx, [{ vm, operation }], request)
  if (!task) throw new TypeError('the task was not inserted')
  return task
}

/** An operation for one VM, whose row is locked. */
export interface QueueEntry {
  readonly vm: VmRow
  readonly operation: Operation
}

/** The same for several VMs, each of which occurs once: three statements for all of them. */
export async function enqueueEach(
  tx: Tx,
  entries: readonly QueueEntry[],
  { owner, input = null, id, parent, rank = 0, strict = false, inBulk = false }: TaskRequest,
): Promise<readonly TaskRow[]> {
  for (const { vm, operation } of entries) operation.check?.(vm, input)
  const places = entries.map(({ vm, operation }) => ({
    id: vm.id,
    position: vm.queue_length + 1,
    target: operation.to ?? vm.queue_target,
    closes: operation.kind === 'delete',
  }))
  // The submitter sends a wake-up after the commit; the sweep acts only if that did not help.
  await sql`
    update vm set queue_length = place.position, woken_at = clock_timestamp(), queue_target = place.target,
      closed = vm.closed or place.closes
    from jsonb_to_recordset(${JSON.stringify(places)}::jsonb)
      as place(id uuid, position integer, target text, closes boolean)
    where vm.id = place.id`.execute(tx)
  const tasks = await tx
    .insertInto('task')
    .values(
      entries.map(({ vm, operation }) => ({
        ...(id !== undefined && { id }),
        org: vm.org,
        vapp: vm.vapp,
        vm: vm.id,
        object_name: vm.name,
        position: vm.queue_length + 1,
        owner,
        rank,
        stop_on_failure: strict,
        parent: parent ?? null,
        in_bulk: inBulk,
        operation: operation.name,
        kind: operation.kind,
        target_status: operation.to ?? null,
        input: JSON.stringify(input),
        stores_mib: operation.stores === 'nothing' ? 0 : operation.stores(vm, input),
      })),
    )
    .returningAll()
    .execute()
  await emitEvents(
    tx,
    tasks.map((task) => ({ kind: 'task.queued', task })),
  )
  return tasks
}

/** Whether the queue of a locked VM is empty, and the target status of its last task that has one. */
export async function queueOf(
  tx: Tx,
  vm: VmId,
): Promise<{ readonly empty: boolean; readonly target: Status | null }> {
  const { rows } = await sql<{ empty: boolean; target: Status | null }>`
    select count(*) = 0 as empty, (array_agg(target_status order by position desc)
      filter (where direction = 'forward' and target_status is not null))[1] as target
    from task where vm = ${vm} and state in ('queued', 'running')`.execute(tx)
  return rows[0] ?? { empty: true, target: null }
}
