import type { Goal } from '@skerry/host-api'

import { hostStep } from '../host-step.ts'
import { operation, type At, type Step } from '../operation.ts'
import { readSeed } from '../store/guest-seeds.ts'
import { placeVm } from '../store/place.ts'
import { nowhere, writeClaimed } from '../store/vms.ts'

/** It is nowhere, and was not made. */
export const unplace = ({ world, vm, order }: At): Promise<void> =>
  writeClaimed(world.db, vm.id, order.number, { ...nowhere, status: 'FAILED_CREATION' })

const place: Step = {
  name: 'place',
  run: ({ world, vm, order, task }) =>
    placeVm(world.db, { vm: vm.id, number: order.number, task: task.id }),
  undo: unplace,
}

export const deedOf = ({ vm }: At) => ({
  ...{ org: vm.org, vApp: vm.vapp, name: vm.name, image: vm.image },
  ...{ cpus: vm.cpus, memoryMiB: vm.memory_mib, diskMiB: vm.disk_mib },
})

/** With what its guest is to be told, if anything is. */
async function toldDefined(at: At): Promise<Goal> {
  const { db, seal } = at.world
  const seed = await readSeed(db, at.vm.id, seal)
  return { be: 'defined', deed: deedOf(at), ...(seed && { seed }) }
}

/** Asked for by instantiate, once for each VM; powerOn may wait behind it. */
export const create = operation({
  name: 'create',
  permission: 'vm:edit',
  from: ['UNRESOLVED'],
  to: 'POWERED_OFF',
  task: { name: 'vdcInstantiateVapp', doing: 'Creating', done: 'Created' },
  withinSeconds: 3600,
  doc: 'Makes the VM on the host with the most room.',
  steps: [
    place,
    hostStep(
      'image',
      ({ vm }) => ({ be: 'image', digest: vm.image }),
      { none: 'an image that no VM needs is cleared away by its host' },
      { long: true },
    ),
    hostStep('define', toldDefined, { be: 'gone' }),
  ],
})
