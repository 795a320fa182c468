import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { TaskRow } from '../database/tables.ts'
import { vapp } from '../documents/vapp.ts'
import { Hrefs } from '../http/links.ts'
import { readVapp, vmsOf } from '../inventory/vapps.ts'
import { openTasks } from '../tasks/find-task.ts'
import { readLease } from '../tenants/leases.ts'

/** Response 201: the document of a vApp that is being created, with its task. */
export async function createdVappResponse(context: RequestContext, caller: Caller, task: TaskRow) {
  const hrefs = new Hrefs(context.base)
  const { vapp: id } = task
  if (id === null) throw new TypeError(`task ${task.id} creates no vApp`)
  const whole = await context.as(caller.principal, async (tx) => ({
    vapp: await readVapp(tx, id),
    vms: await vmsOf(tx, id),
    tasks: await openTasks(tx, id),
    lease: await readLease(tx, id),
  }))
  // The task may have ended already; the response contains it anyway.
  const tasks = whole.tasks.some((each) => each.id === task.id) ? whole.tasks : [task]
  return {
    status: 201,
    headers: { location: hrefs.vapp(id) },
    body: vapp({ ...whole, tasks }, caller, hrefs),
  }
}
