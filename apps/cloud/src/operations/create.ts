import type { Goal, VmSpec } from '@skerry/host-api'

import { readSeed } from '../inventory/guest-seeds.ts'
import { specNics } from '../inventory/nics.ts'
import { placedNowhere, writeClaimed } from '../inventory/vms.ts'
import { operation, type StepContext, type Step } from '../tasks/operation.ts'
import { hostStep } from './host-step.ts'
import { placeVm } from './place.ts'

/** Removes the placement, and records that the VM was not created. */
export const unplace = ({ context, vm, order }: StepContext): Promise<void> =>
  writeClaimed(context.db, vm.id, order.fencingToken, {
    ...placedNowhere,
    status: 'FAILED_CREATION',
  })

const place: Step = {
  name: 'place',
  rows: true,
  run: ({ context, vm, order, task }) =>
    placeVm(context.db, { vm: vm.id, fencingToken: order.fencingToken, task: task.id }),
  undo: unplace,
}

/** The VM spec, with its cards if it has some on networks across hosts. */
export async function specOf({ vm, context }: StepContext): Promise<VmSpec> {
  const nics = await specNics(context.db, vm)
  return {
    org: vm.org,
    vApp: vm.vapp,
    name: vm.name,
    image: vm.image,
    cpus: vm.cpus,
    memoryMiB: vm.memory_mib,
    diskMiB: vm.disk_mib,
    ...(nics && { nics: [...nics] }),
  }
}

/** The goal with the VM spec as it is stored. */
export const definedGoal = async (at: StepContext): Promise<Goal> => ({
  goal: 'defined',
  spec: await specOf(at),
})

/** The goal with the VM spec, and with the cloud-init data of the guest if there is any. */
async function toldDefined(at: StepContext): Promise<Goal> {
  const { db, seal } = at.context
  const seed = await readSeed(db, at.vm.id, seal)
  return { goal: 'defined', spec: await specOf(at), ...(seed && { seed }) }
}

/** Started by instantiate, once for each VM; powerOn may be queued behind it. */
export const create = operation({
  name: 'create',
  kind: 'create',
  permission: 'vm:edit',
  stores: 'nothing',
  forVapp: { none: 'requests that create vApps start it' },
  from: ['UNRESOLVED'],
  to: 'POWERED_OFF',
  task: { name: 'vdcInstantiateVapp', doing: 'Creating', done: 'Created' },
  withinSeconds: 3600,
  doc: 'Creates the VM on the host with the most free capacity.',
  steps: [
    place,
    hostStep(
      'image',
      ({ vm }) => ({ goal: 'image', digest: vm.image }),
      { none: 'its host deletes an image that no VM needs' },
      { long: true },
    ),
    hostStep('define', toldDefined, { goal: 'gone' }),
  ],
})
