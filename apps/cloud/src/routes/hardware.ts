import { Fault } from '@skerry/fault'

import { at } from '../dialect/addresses.ts'
import { memoryItem, processorsItem } from '../documents/sections.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/path-resources.ts'
import { route } from '../http/route.ts'
import { reconfigure } from '../operations/reconfigure.ts'
import { itemParams } from '../params/reconfigure.ts'
import { submitVmOperation } from './entities.ts'

const vmOf = (entity: Entity) => {
  if (entity.kind === 'vm') return entity.vm
  throw new Fault('invalid', 'VMs have hardware, vApps do not', {
    hint: 'send it to each VM in its Children',
  })
}

/** Single items of a VM's hardware, for clients that can change them only one by one. */
export const hardware = [
  route({
    name: 'readProcessors',
    method: 'GET',
    path: at.processors,
    permission: 'vm:read',
    answers: { 200: 'rasdItem' },
    doc: 'The processors of a VM.',
    async handle({ base }, caller) {
      const row = vmOf(caller.params.entity)
      return { status: 200, body: processorsItem(row, new Hrefs(base).vm(row.id), caller) }
    },
  }),
  route({
    name: 'changeProcessors',
    method: 'PUT',
    path: at.processors,
    permission: 'vm:edit',
    takes: itemParams('cpus'),
    answers: { 202: 'task' },
    doc: 'Sets the number of processors to VirtualQuantity. The VM must be off.',
    handle: (context, caller) =>
      submitVmOperation(context, caller, caller.params.entity, reconfigure, caller.body),
  }),
  route({
    name: 'readMemory',
    method: 'GET',
    path: at.memory,
    permission: 'vm:read',
    answers: { 200: 'rasdItem' },
    doc: 'The memory of a VM, in MiB.',
    async handle({ base }, caller) {
      const row = vmOf(caller.params.entity)
      return { status: 200, body: memoryItem(row, new Hrefs(base).vm(row.id), caller) }
    },
  }),
  route({
    name: 'changeMemory',
    method: 'PUT',
    path: at.memory,
    permission: 'vm:edit',
    takes: itemParams('memoryMiB'),
    answers: { 202: 'task' },
    doc: 'Sets the memory to VirtualQuantity, in MiB. The VM must be off.',
    handle: (context, caller) =>
      submitVmOperation(context, caller, caller.params.entity, reconfigure, caller.body),
  }),
]
