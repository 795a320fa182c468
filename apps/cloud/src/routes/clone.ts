import { Fault } from '@skerry/fault'

import { at } from '../dialect/addresses.ts'
import { route } from '../http/route.ts'
import { addCopies } from '../inventory/copy.ts'
import { clone } from '../operations/vapp-operations.ts'
import { cloneParams } from '../params/clone.ts'
import { createdVappResponse } from '../responses/created-vapp.ts'
import { submitTogether } from '../tasks/submit-task.ts'
import { submit } from '../tasks/submit.ts'

export const cloning = [
  route({
    name: 'clone',
    method: 'POST',
    path: at.clone,
    permission: 'vm:edit',
    takes: cloneParams,
    answers: { 201: 'vApp' },
    doc: 'Creates a vApp as a copy of another, whose VMs must be off. Each copy is made on the host of its source VM; operations on the source wait meanwhile.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const { vdc } = params
      const task = await submit(context, caller, async (tx, id) => {
        if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
        const { vapp, sources } = await addCopies(tx, { ...body, vdc, owner: principal.user })
        return submitTogether(tx, clone(sources), { vapp, owner: principal.user, id })
      })
      return createdVappResponse(context, caller, task)
    },
  }),
]
