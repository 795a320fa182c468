import { vapp } from './documents/vapp.ts'
import type { Asker } from './http/asker.ts'
import { Hrefs } from './http/links.ts'
import { openTasks } from './store/find-task.ts'
import { readLease } from './store/leases.ts'
import type { Task } from './store/queue.ts'
import { readVapp, vmsOf } from './store/vapps.ts'
import type { RequestWorld } from './world.ts'

/** 201: the document of a vApp that is being made, with its task. */
export async function madeVapp(world: RequestWorld, asker: Asker, task: Task) {
  const hrefs = new Hrefs(world.base)
  const whole = await world.as(asker.who, async (tx) => ({
    vapp: await readVapp(tx, task.vapp),
    vms: await vmsOf(tx, task.vapp),
    tasks: await openTasks(tx, task.vapp),
    lease: await readLease(tx, task.vapp),
  }))
  // It may have ended by now: whoever asked is told of it all the same.
  const tasks = whole.tasks.some(({ id }) => id === task.id) ? whole.tasks : [task]
  return {
    status: 201,
    headers: { location: hrefs.vapp(task.vapp) },
    body: vapp({ ...whole, tasks }, asker, hrefs),
  }
}
