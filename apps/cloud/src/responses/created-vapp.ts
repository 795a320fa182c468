import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { TaskRow, Tx } from '../database/tables.ts'
import { vapp, type WholeVapp } from '../documents/vapp.ts'
import type { VappId } from '../domain/ids.ts'
import { Hrefs } from '../http/links.ts'
import { cardsOf } from '../inventory/nics.ts'
import { readVapp, vmsOf } from '../inventory/vapps.ts'
import { openTasks } from '../tasks/find-task.ts'
import { readLease } from '../tenants/leases.ts'

/** What the document of a vApp shows besides its row. */
export async function wholeVapp(tx: Tx, id: VappId): Promise<Omit<WholeVapp, 'vapp'>> {
  const vms = await vmsOf(tx, id)
  const cards = await cardsOf(tx, vms)
  return { vms, cards, tasks: await openTasks(tx, id), lease: await readLease(tx, id) }
}

/** Response 201: the document of a vApp that is being created, with its task. */
export async function createdVappResponse(context: RequestContext, caller: Caller, task: TaskRow) {
  const hrefs = new Hrefs(context.base)
  const { vapp: id } = task
  if (id === null) throw new TypeError(`task ${task.id} creates no vApp`)
  const whole = await context.as(caller.principal, async (tx) => ({
    vapp: await readVapp(tx, id),
    ...(await wholeVapp(tx, id)),
  }))
  // The task may have ended already; the response contains it anyway.
  const tasks = whole.tasks.some((each) => each.id === task.id) ? whole.tasks : [task]
  return {
    status: 201,
    headers: { location: hrefs.vapp(id) },
    body: vapp({ ...whole, tasks }, caller, hrefs),
  }
}
