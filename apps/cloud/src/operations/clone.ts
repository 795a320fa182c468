import { Fault } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'
import type { VmId } from '@skerry/vm'

import { hostStep } from '../host-step.ts'
import { operation, type At, type Step } from '../operation.ts'
import { placeBeside } from '../store/place.ts'
import { deedOf, unplace } from './create.ts'

const sourceOf = ({ vm }: At): VmId => {
  if (vm.source !== null) return vm.source
  throw new Fault('conflict', `VM ${vm.name} is a copy of nothing`)
}

const place: Step = {
  name: 'place',
  run: (at) =>
    placeBeside(at.world.db, {
      ...{ vm: at.vm.id, number: at.order.number, source: sourceOf(at) },
    }),
  undo: unplace,
}

/** Its guest is told that it is another one, where the first was told anything; what else that was told is not kept. */
const copied = (at: At): Goal => {
  const { computer_name: hostname } = at.vm
  return {
    ...{ be: 'cloned', deed: deedOf(at), source: sourceOf(at) },
    ...(hostname !== null && { seed: { hostname } }),
  }
}

/** Asked for by cloneVApp, once for each VM, while `lend` keeps its place in the queue of the VM that is copied. */
export const clone = operation({
  name: 'clone',
  permission: 'vm:edit',
  from: ['UNRESOLVED'],
  to: 'POWERED_OFF',
  task: { name: 'vdcCopyVapp', doing: 'Making', done: 'Made' },
  withinSeconds: 3600,
  doc: 'Makes the VM as a copy of another, on the same host, while that one is off.',
  steps: [place, hostStep('define', copied, { be: 'gone' }, { long: true })],
})

/**
 * Stands in the queue of a VM that is copied until its copy is made: it has nothing to do, but what is asked of that VM later
 * waits behind it. Its turn comes when all the copies have ended, well or not.
 */
export const lend = operation({
  name: 'lend',
  permission: 'vm:edit',
  from: ['POWERED_OFF'],
  task: { name: 'vdcCopyVapp', doing: 'Copying', done: 'Copied' },
  withinSeconds: 3600,
  doc: 'Keeps the VM as it is until the copies of its vApp are made.',
  steps: [],
})
