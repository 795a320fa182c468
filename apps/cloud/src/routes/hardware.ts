import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { memoryItem, processorsItem } from '../documents/sections.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/things.ts'
import { reconfigure } from '../operations/reconfigure.ts'
import { itemParams } from '../params/reconfigure.ts'
import { route } from '../route.ts'
import { askVm } from './entities.ts'

const vmOf = (entity: Entity) => {
  if (entity.is === 'vm') return entity.vm
  throw new Fault('invalid', 'hardware is of VMs, not of vApps', {
    hint: 'ask it of each VM in its Children',
  })
}

/** Parts of a VM's hardware one by one, for clients that know no other way to change them. */
export const hardware = [
  route({
    name: 'readProcessors',
    method: 'GET',
    path: at.processors,
    permission: 'vm:read',
    answers: { 200: 'rasdItem' },
    doc: 'The processors of a VM.',
    async handle({ base }, asker) {
      const row = vmOf(asker.params.entity)
      return { status: 200, body: processorsItem(row, new Hrefs(base).vm(row.id), asker) }
    },
  }),
  route({
    name: 'changeProcessors',
    method: 'PUT',
    path: at.processors,
    permission: 'vm:edit',
    takes: itemParams('cpus'),
    answers: { 202: 'task' },
    doc: 'Gives the VM as many processors as VirtualQuantity says, while it is off.',
    handle: (world, asker) => askVm(world, asker, asker.params.entity, reconfigure, asker.body),
  }),
  route({
    name: 'readMemory',
    method: 'GET',
    path: at.memory,
    permission: 'vm:read',
    answers: { 200: 'rasdItem' },
    doc: 'The memory of a VM, in MiB.',
    async handle({ base }, asker) {
      const row = vmOf(asker.params.entity)
      return { status: 200, body: memoryItem(row, new Hrefs(base).vm(row.id), asker) }
    },
  }),
  route({
    name: 'changeMemory',
    method: 'PUT',
    path: at.memory,
    permission: 'vm:edit',
    takes: itemParams('memoryMiB'),
    answers: { 202: 'task' },
    doc: 'Gives the VM as much memory as VirtualQuantity says, in MiB, while it is off.',
    handle: (world, asker) => askVm(world, asker, asker.params.entity, reconfigure, asker.body),
  }),
]
