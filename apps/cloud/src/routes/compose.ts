import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { at } from '../dialect/addresses.ts'
import { route } from '../http/route.ts'
import { addVmsOf } from '../inventory/compose.ts'
import { addEmptyVapp, lockVapp } from '../inventory/vapps.ts'
import { compose, recompose } from '../operations/vapp-operations.ts'
import { composeParams, recomposeParams } from '../params/compose.ts'
import { accepted } from '../responses/accepted-task.ts'
import { createdVappResponse } from '../responses/created-vapp.ts'
import { requireNetworks, requireTemplates } from '../sharing/choices.ts'
import { submitTogether } from '../tasks/submit-task.ts'
import { submit } from '../tasks/submit.ts'

export const composing = [
  route({
    name: 'compose',
    method: 'POST',
    path: at.compose,
    permission: 'vm:edit',
    takes: composeParams,
    answers: { 201: 'vApp' },
    doc: 'Creates a vApp from any number of templates, one VM from each. It is started only if powerOn is true.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const { vdc } = params
      const task = await submit(context, caller, async (tx, id) => {
        if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
        const vapp = await addEmptyVapp(tx, { vdc, name: body.name, owner: principal.user })
        await addVmsOf(tx, { org: vdc.org, vdc: vdc.id, vapp }, body.items, context.seal)
        return submitTogether(tx, compose(body), { vapp, owner: principal.user, id })
      })
      return createdVappResponse(context, caller, task)
    },
  }),
  route({
    name: 'recompose',
    method: 'POST',
    path: at.recompose,
    permission: 'vm:edit',
    takes: recomposeParams,
    answers: { 202: 'task' },
    doc: 'Adds VMs from templates to a vApp, and deletes VMs from it.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const { entity } = params
      if (entity.kind !== 'vapp') throw new Fault('invalid', 'recompose is for vApps, not for VMs')
      const { id: vapp, org, vdc, name } = entity.vapp
      const task = await submit(context, caller, async (tx, id) => {
        const locked = await lockVapp(tx, vapp)
        if (!locked || locked.closed) throw new Fault('conflict', `vApp ${name} is being deleted`)
        const { items } = body
        const templates = items.map(({ template }) => template)
        await requireTemplates(tx, principal, org, templates)
        const networks = items.flatMap(({ nics = [] }) => nics.map((each) => each.network))
        requireNetworks(principal, networks, [])
        const made = new Set(await addVmsOf(tx, { org, vdc, vapp }, items, context.seal))
        const whole = recompose(made, new Set(body.gone as readonly VmId[]))
        return submitTogether(tx, whole, { vapp, owner: principal.user, id })
      })
      return accepted(context, caller, task)
    },
  }),
]
