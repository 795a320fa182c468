import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { madeVapp } from '../made-vapp.ts'
import { cloneParams } from '../params/clone.ts'
import { route } from '../route.ts'
import { addCopies } from '../store/copy.ts'
import { requireQuota } from '../store/quotas.ts'
import { submitTogether } from '../store/submit-task.ts'
import { submit } from '../submit.ts'
import { clone } from '../vapp-operations.ts'

export const cloning = [
  route({
    name: 'clone',
    method: 'POST',
    path: at.clone,
    permission: 'vm:edit',
    takes: cloneParams,
    answers: { 201: 'vApp' },
    doc: 'Makes a vApp as a copy of another, whose VMs must be off: each copy is made on the host of its VM, and what is asked of that one meanwhile waits.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const { vdc } = params
      const task = await submit(world, asker, async (tx, id) => {
        if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
        const { vapp, sources } = await addCopies(tx, { ...body, vdc, owner: who.user })
        const whole = clone(sources)
        const submitted = await submitTogether(tx, whole, { vapp, owner: who.user, id })
        await requireQuota(tx, vdc.org, 'make')
        return submitted
      })
      return madeVapp(world, asker, task)
    },
  }),
]
