import { Fault } from '@skerry/fault'
import type { TaskId, VmId } from '@skerry/vm'
import { sql, type Selectable } from 'kysely'

import type { Operation } from '../operation.ts'
import { decideFor, type Fate, type Status } from '../vm-status.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import { tell } from './events.ts'
import type { VmRow } from './vms.ts'

export type Task = Selectable<Database['task']>

/** What stands beside the operation in a task. */
export interface Ask {
  readonly owner: string
  readonly input?: unknown
  readonly id?: TaskId
  readonly parent?: TaskId
  readonly rank?: number
  readonly strict?: boolean
}

/** Judged by where the queue will have left the VM: a busy VM queues, it never answers "busy". */
export function judge(vm: VmRow, operation: Operation): 'go' | 'nothing' {
  if (vm.closed) throw new Fault('conflict', `VM ${vm.name} is being deleted`)
  const decision = decideFor(vm, vm.desired, operation)
  if (decision !== 'refuse') return decision
  if (vm.fate !== null) throw new Fault('conflict', whyOnlyDelete(vm.name, vm.fate))
  throw new Fault(
    'conflict',
    `VM ${vm.name} is ${vm.desired}; ${operation.name} needs ${operation.from.join(' or ')}`,
  )
}

const whyOnlyDelete = (name: string, fate: Fate): string =>
  fate === 'LOST'
    ? `VM ${name} is lost with its host: it can only be deleted`
    : `VM ${name} is missing since a restore: its host does not have it, and it can only be deleted`

/** Puts a task behind all others of a VM whose row is locked: task, intent and event. */
export async function enqueue(
  tx: Tx,
  vm: VmRow,
  operation: Operation,
  { owner, input = null, id, parent, rank = 0, strict = false }: Ask,
): Promise<Task> {
  const place = vm.places + 1
  await tx
    .updateTable('vm')
    .set({
      places: place,
      // Whoever asks rings when it is committed; the sweep comes only after that should have helped.
      rung_at: sql`clock_timestamp()`,
      leads: operation.to ?? vm.leads,
      ...(operation.closes && { closed: true }),
    })
    .where('id', '=', vm.id)
    .execute()
  const task = await tx
    .insertInto('task')
    .values({
      ...(id !== undefined && { id }),
      ...{ org: vm.org, vapp: vm.vapp, vm: vm.id, place, owner, rank, strict },
      ...{ parent: parent ?? null, operation: operation.name, leads: operation.to ?? null },
      input: JSON.stringify(input),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await tell(tx, { kind: 'task.queued', task })
  return task
}

/** Whether anything is left in the queue of a locked VM, and what it leads to if any of it leads anywhere. */
export async function queueOf(
  tx: Tx,
  vm: VmId,
): Promise<{ readonly empty: boolean; readonly leads: Status | null }> {
  const { rows } = await sql<{ empty: boolean; leads: Status | null }>`
    select count(*) = 0 as empty, (array_agg(leads order by place desc)
      filter (where direction = 'forward' and leads is not null))[1] as leads
    from task where vm = ${vm} and state in ('queued', 'running')`.execute(tx)
  return rows[0] ?? { empty: true, leads: null }
}
