import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { at } from '../addresses.ts'
import { task as taskDocument } from '../documents/task.ts'
import { Hrefs } from '../http/links.ts'
import { madeVapp } from '../made-vapp.ts'
import { composeParams, recomposeParams } from '../params/compose.ts'
import { route } from '../route.ts'
import { addVmsOf } from '../store/compose.ts'
import { requireQuota } from '../store/quotas.ts'
import { submitTogether } from '../store/submit-task.ts'
import { addEmptyVapp, lockVapp } from '../store/vapps.ts'
import { submit } from '../submit.ts'
import { compose, recompose } from '../vapp-operations.ts'

export const composing = [
  route({
    name: 'compose',
    method: 'POST',
    path: at.compose,
    permission: 'vm:edit',
    takes: composeParams,
    answers: { 201: 'vApp' },
    doc: 'Makes a vApp of any number of templates, a VM of each; started only if powerOn is true.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const { vdc } = params
      const task = await submit(world, asker, async (tx, id) => {
        if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
        const vapp = await addEmptyVapp(tx, { vdc, name: body.name, owner: who.user })
        await addVmsOf(tx, { org: vdc.org, vapp }, body.items, world.seal)
        const submitted = await submitTogether(tx, compose(body), { vapp, owner: who.user, id })
        await requireQuota(tx, vdc.org, 'make', ...(body.power ? (['start'] as const) : []))
        return submitted
      })
      return madeVapp(world, asker, task)
    },
  }),
  route({
    name: 'recompose',
    method: 'POST',
    path: at.recompose,
    permission: 'vm:edit',
    takes: recomposeParams,
    answers: { 202: 'task' },
    doc: 'Adds VMs of templates to a vApp, and deletes VMs of it.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const { entity } = params
      if (entity.is !== 'vapp') throw new Fault('invalid', 'a VM is not composed of others')
      const { id: vapp, org, name } = entity.vapp
      const task = await submit(world, asker, async (tx, id) => {
        const locked = await lockVapp(tx, vapp)
        if (!locked || locked.closed) throw new Fault('conflict', `vApp ${name} is being deleted`)
        const made = new Set(await addVmsOf(tx, { org, vapp }, body.items, world.seal))
        const whole = recompose(made, new Set(body.gone as readonly VmId[]))
        const submitted = await submitTogether(tx, whole, { vapp, owner: who.user, id })
        if (made.size > 0) await requireQuota(tx, org, 'make')
        return submitted
      })
      const hrefs = new Hrefs(world.base)
      const headers = { location: hrefs.task(task.id) }
      return { status: 202, headers, body: taskDocument(task, asker, hrefs) }
    },
  }),
]
