import { Fault } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'
import type { VmId } from '@skerry/vm'

import { operation, type StepContext, type Step } from '../tasks/operation.ts'
import { specOf, unplace } from './create.ts'
import { hostStep } from './host-step.ts'
import { placeBeside } from './place.ts'

const sourceOf = ({ vm }: StepContext): VmId => {
  if (vm.source !== null) return vm.source
  throw new Fault('conflict', `VM ${vm.name} has no source VM`)
}

const place: Step = {
  name: 'place',
  rows: true,
  run: (at) =>
    placeBeside(at.context.db, {
      vm: at.vm.id,
      fencingToken: at.order.fencingToken,
      source: sourceOf(at),
    }),
  undo: unplace,
}

/** If the source used cloud-init, the copy gets a new instance-id and hostname; the rest of the source's data is not stored. */
const copied = async (at: StepContext): Promise<Goal> => {
  const { computer_name: hostname } = at.vm
  return {
    goal: 'cloned',
    spec: await specOf(at),
    source: sourceOf(at),
    ...(hostname !== null && { seed: { hostname } }),
  }
}

/** Started by cloneVApp, once for each VM, while a hold task keeps its place in the queue of the source VM. */
export const clone = operation({
  name: 'clone',
  kind: 'copy',
  permission: 'vm:edit',
  stores: 'nothing',
  forVapp: { none: 'copying a vApp starts it' },
  from: ['UNRESOLVED'],
  to: 'POWERED_OFF',
  task: { name: 'vdcCopyVapp', doing: 'Making', done: 'Made' },
  withinSeconds: 3600,
  doc: 'Creates the VM as a copy of another VM, on the same host. The source must be off.',
  steps: [place, hostStep('define', copied, { goal: 'gone' }, { long: true })],
})

/**
 * Holds the source VM: it stays in the queue of the source until its copy is made. It does nothing itself, but later operations on
 * the source wait behind it. Its turn comes when all copies have ended, successfully or not.
 */
export const holdForClone = operation({
  name: 'hold',
  kind: 'hold',
  permission: 'vm:edit',
  stores: 'nothing',
  forVapp: { none: 'copying a vApp starts it' },
  from: ['POWERED_OFF'],
  task: { name: 'vdcCopyVapp', doing: 'Copying', done: 'Copied' },
  withinSeconds: 3600,
  doc: 'Holds the VM as it is until the copies of its vApp are made.',
  steps: [],
})
