import { Fault } from '@skerry/fault'
import type { OrgId, TaskId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

import { emitEvent, emitEvents } from '../database/events.ts'
import { rowBatches } from '../database/row-batches.ts'
import type { TaskRow, Tx } from '../database/tables.ts'
import type { VmTaskKind } from '../domain/task-kind.ts'
import { mayStart } from '../domain/vm-status.ts'
import { lockMatching, type VmRow } from '../inventory/vms.ts'
import { readRoom, type QuotaRoom } from '../tenants/quotas.ts'
import { recordBulk } from './end-parent.ts'
import type { Operation } from './operation.ts'
import { enqueueEach, judge, type QueueEntry } from './queue.ts'
import type { Submitted } from './submit-task.ts'

/** VMs of one bulk request: they are locked together, for a few seconds at this number. */
export const BULK_VMS_MAX = 10_000
/** VMs that are woken after the request; the end of each wakes the next, and the sweep wakes those whose wake-up was lost. */
const WOKEN_FIRST = 200

/** An operation on every VM of a query. */
interface BulkAction {
  readonly name: string
  readonly kind: VmTaskKind
  /** The operation for this VM; undefined: it does not apply. */
  forVm(vm: VmRow): Operation | undefined
}

interface BulkRequest {
  readonly org: OrgId
  readonly owner: string
  readonly id: TaskId
  /** SQL over the row `r` of a VM. */
  readonly matching: RawBuilder<unknown>
  /** Counts the VMs that match, up to this number, before any is locked. */
  readonly count: (tx: Tx, limit: number) => Promise<number>
  /** The number of VMs that the caller saw. */
  readonly expect: number
}

/** A VM that the operation is refused for, with the reason. */
interface RefusedVm {
  readonly vm: VmRow
  readonly reason: Fault
}

/**
 * Writes one task, and a child for every VM of the query, under the locks of all these VMs. A VM that cannot take the operation gets a
 * child that has failed already, with the reason, and does not stop the others. If another number of VMs matches than the caller saw,
 * the whole request is refused. Only the number is compared, not the VMs: a list of 10,000 ids would not fit into an address.
 */
export async function submitBulk(
  tx: Tx,
  action: BulkAction,
  { org, owner, id, matching, count, expect }: BulkRequest,
): Promise<Submitted> {
  requireTotal(await count(tx, BULK_VMS_MAX + 1), expect)
  const vms = await lockMatching(tx, sql`r.org = ${org} and ${matching}`, BULK_VMS_MAX + 1)
  // A VM may have come, gone or changed before its lock was taken.
  requireTotal(vms.length, expect)
  const { entries, refused } = await judgeEach(tx, org, action, vms)
  const parent = await tx
    .insertInto('task')
    .values({
      id,
      org,
      owner,
      operation: action.name,
      kind: action.kind,
      children: vms.length,
      object_name: `${vms.length} VMs`,
      state: 'running',
      started_at: sql<Date>`clock_timestamp()`,
      input: JSON.stringify(null),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await emitEvent(tx, { kind: 'task.queued', task: parent })
  await emitEvent(tx, { kind: 'task.running', task: parent })
  for (const some of rowBatches(entries)) {
    await enqueueEach(tx, some, { owner, parent: id, inBulk: true })
  }
  for (const some of rowBatches(refused)) await addRefused(tx, action, parent, some)
  const task = await recordBulk(tx, id, vms.length)
  return { task, vms: entries.slice(0, WOKEN_FIRST).map(({ vm }) => vm.id), operations: [] }
}

function requireTotal(total: number, expect: number): void {
  if (total > BULK_VMS_MAX) {
    throw new Fault('invalid', `the filter matches more than ${BULK_VMS_MAX} VMs`, {
      hint: `a request can act on at most ${BULK_VMS_MAX} VMs: narrow the filter, for example by name or vdc, and send one request for each part`,
    })
  }
  if (total === expect) return
  throw new Fault('conflict', `the filter matches ${total} VMs, but expect is ${expect}`, {
    hint: `nothing was changed: read the list again with the same filter, then repeat the request with expect=${total}`,
  })
}

/** Decides for each VM as for a request of its own, in the order of their ids, until a quota is used up. */
async function judgeEach(
  tx: Tx,
  org: OrgId,
  action: BulkAction,
  vms: readonly VmRow[],
): Promise<{ readonly entries: readonly QueueEntry[]; readonly refused: readonly RefusedVm[] }> {
  const entries: QueueEntry[] = []
  const refused: RefusedVm[] = []
  let room: QuotaRoom | undefined
  for (const vm of vms) {
    try {
      const operation = possible(vm, action)
      if (mayStart(operation) || operation.stores !== 'nothing') {
        room ??= await readRoom(tx, org)
        takeRoom(room, vm, operation)
      }
      entries.push({ vm, operation })
    } catch (reason) {
      if (!(reason instanceof Fault)) throw reason
      refused.push({ vm, reason })
    }
  }
  return { entries, refused }
}

function possible(vm: VmRow, action: BulkAction): Operation {
  const operation = action.forVm(vm)
  if (!operation)
    throw new Fault('conflict', `VM ${vm.name} has nothing to apply ${action.name} to`)
  judge(vm, operation)
  operation.check?.(vm, null)
  return operation
}

function takeRoom(room: QuotaRoom, vm: VmRow, operation: Operation): void {
  const starts = mayStart(operation)
  if (starts) room.requireStart(vm.projected_status === 'POWERED_ON' ? 0 : 1)
  const mib = operation.stores === 'nothing' ? 0 : operation.stores(vm, null)
  if (mib > 0) room.requireStorage(mib)
}

/** Children that have failed at submission: they were never in the queue of their VM. */
async function addRefused(
  tx: Tx,
  action: BulkAction,
  { id, owner }: TaskRow,
  refused: readonly RefusedVm[],
): Promise<void> {
  const now = sql<Date>`clock_timestamp()` as unknown as Date
  const tasks = await tx
    .insertInto('task')
    .values(
      refused.map(({ vm, reason }) => ({
        org: vm.org,
        vapp: vm.vapp,
        vm: vm.id,
        object_name: vm.name,
        owner,
        parent: id,
        in_bulk: true,
        operation: action.forVm(vm)?.name ?? action.name,
        kind: action.kind,
        state: 'error' as const,
        started_at: now,
        ended_at: now,
        fault: reason.kind,
        message: reason.hint === undefined ? reason.message : `${reason.message}; ${reason.hint}`,
        input: JSON.stringify(null),
      })),
    )
    .returningAll()
    .execute()
  await emitEvents(
    tx,
    tasks.map((task) => ({ kind: 'task.error', task, details: { message: task.message } })),
  )
}
