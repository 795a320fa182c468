import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { Tx } from '../database/tables.ts'
import type { WrittenOperation } from '../domain/immediate-operations.ts'
import type { Entity } from '../http/path-resources.ts'
import type { Subject } from '../inventory/vapps.ts'
import { addDoneTask } from '../tasks/done-task.ts'
import { submit } from '../tasks/submit.ts'
import { accepted } from './accepted-task.ts'

export const subjectOf = (entity: Entity): Subject =>
  entity.kind === 'vm'
    ? { org: entity.org, vapp: entity.vm.vapp, vm: entity.vm.id }
    : { org: entity.org, vapp: entity.vapp.id, vm: null }

/** Makes an immediate change; the returned task has already ended. */
export async function recordImmediateTask(
  context: RequestContext,
  caller: Caller,
  entity: Entity,
  operation: WrittenOperation,
  work: (tx: Tx, subject: Subject) => Promise<void>,
) {
  const subject = subjectOf(entity)
  const task = await submit(context, caller, async (tx, id) => {
    await work(tx, subject)
    const owner = caller.principal.user
    const done = await addDoneTask(tx, subject, { operation, owner, id })
    return { task: done, vms: [], operations: [] }
  })
  return accepted(context, caller, task)
}
