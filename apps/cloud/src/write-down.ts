import { task as taskDocument } from './documents/task.ts'
import type { Asker } from './http/asker.ts'
import { Hrefs } from './http/links.ts'
import type { Entity } from './http/things.ts'
import { addDoneTask, type Subject } from './store/done-task.ts'
import { submit } from './submit.ts'
import type { RequestWorld, Tx } from './world.ts'
import type { WrittenOperation } from './written-operations.ts'

export const subjectOf = (entity: Entity): Subject =>
  entity.is === 'vm'
    ? { org: entity.org, vapp: entity.vm.vapp, vm: entity.vm.id }
    : { org: entity.org, vapp: entity.vapp.id, vm: null }

/** Writes it down; the task that comes back has ended. */
export async function write(
  world: RequestWorld,
  asker: Asker,
  entity: Entity,
  operation: WrittenOperation,
  work: (tx: Tx, subject: Subject) => Promise<void>,
) {
  const subject = subjectOf(entity)
  const task = await submit(world, asker, async (tx, id) => {
    await work(tx, subject)
    const owner = asker.who.user
    return { task: await addDoneTask(tx, subject, { operation, owner, id }), vms: [] }
  })
  const hrefs = new Hrefs(world.base)
  const headers = { location: hrefs.task(task.id) }
  return { status: 202, headers, body: taskDocument(task, asker, hrefs) }
}
