import type { Goal } from '@skerry/host-api'

import type { Status } from '../domain/vm-status.ts'
import { writeClaimed } from '../inventory/vms.ts'
import {
  operation,
  type Action,
  type StepContext,
  type Operation,
  type Step,
  type VappRule,
} from '../tasks/operation.ts'
import { hostStep } from './host-step.ts'
import { reserveRoom } from './room.ts'

const rule = (name: string, from: readonly Status[], to: Status, ...steps: readonly Step[]) => ({
  name,
  from,
  to,
  steps,
  permission: 'vm:power' as const,
  stores: 'nothing' as const,
  bulk: true as const,
  action: actionOf(name),
})

const actionOf = (name: string): Action => ({ path: `power/action/${name}`, rel: `power:${name}` })

/** A vApp starts in the start order of its VMs and stops in the reverse order. */
const upwards: VappRule = { order: 'first to last', stopsOnFailure: false }
const downwards: VappRule = { order: 'last to first', stopsOnFailure: false }

/** A suspended VM goes back to suspended: power-off would discard the memory of its guest. */
const back = ({ task }: StepContext): Goal => ({
  goal: 'power',
  to: task.status_before === 'SUSPENDED' ? 'suspended' : 'off',
})
const stays = { none: 'what the guest lost cannot be restored' }

/** Records the first start: from then on the VM leaves its host only by migration. */
async function marked({ context, vm, order }: StepContext): Promise<void> {
  if (!vm.ever_started)
    await writeClaimed(context.db, vm.id, order.fencingToken, { ever_started: true })
}

const to = (power: 'on' | 'off' | 'suspended'): Goal => ({ goal: 'power', to: power })

/** From here on the host's report says whether the VM's memory is on disk. */
const unreserve = ({ context, vm, order }: StepContext): Promise<void> =>
  writeClaimed(context.db, vm.id, order.fencingToken, { saving_mib: 0 })

const reserveMemory: Step = {
  name: 'reserve',
  rows: true,
  run: ({ context, vm, order, task }) =>
    reserveRoom(
      context.db,
      { vm: vm.id, fencingToken: order.fencingToken, task: task.id },
      {
        what: 'the memory',
        column: 'saving_mib',
        mib: ({ memory_mib }) => memory_mib,
      },
    ),
  undo: unreserve,
}

const suspended = hostStep('power', to('suspended'), stays, { long: true })
const saveMemory: Step = {
  ...suspended,
  async run(at) {
    await suspended.run(at)
    await unreserve(at)
  },
}

export const powerOperations: readonly Operation[] = [
  operation({
    ...rule(
      'powerOn',
      ['POWERED_OFF', 'SUSPENDED'],
      'POWERED_ON',
      hostStep('power', to('on'), back, { before: marked }),
    ),
    forVapp: { order: 'first to last', stopsOnFailure: true },
    action: {
      ...actionOf('powerOn'),
      also: { rel: 'deploy', document: 'deployVAppParams' },
    },
    task: { name: 'vappDeploy', doing: 'Starting', done: 'Started' },
    withinSeconds: 300,
    doc: 'Starts the VM, or resumes it if it is suspended.',
  }),
  operation({
    ...rule('powerOff', ['POWERED_ON'], 'POWERED_OFF', hostStep('power', to('off'), stays)),
    forVapp: downwards,
    action: {
      ...actionOf('powerOff'),
      also: { rel: 'undeploy', document: 'undeployVAppParams' },
    },
    task: { name: 'vappPowerOff', doing: 'Stopping', done: 'Stopped' },
    withinSeconds: 300,
    doc: 'Powers the VM off immediately, without shutting down the guest.',
  }),
  operation({
    ...rule('suspend', ['POWERED_ON'], 'SUSPENDED', reserveMemory, saveMemory),
    stores: ({ projected_status: desired, memory_mib }) =>
      desired === 'SUSPENDED' ? 0 : memory_mib,
    forVapp: downwards,
    task: { name: 'vappSuspend', doing: 'Suspending', done: 'Suspended' },
    withinSeconds: 1800,
    doc: 'Saves the memory of the VM to disk and stops it; powerOn resumes it.',
  }),
  operation({
    ...rule(
      'shutdown',
      ['POWERED_ON'],
      'POWERED_OFF',
      hostStep('shutdown', { goal: 'shutdown' }, stays, { long: true }),
    ),
    forVapp: downwards,
    task: { name: 'vappShutdownGuest', doing: 'Shutting down', done: 'Shut down' },
    withinSeconds: 300,
    doc: 'Asks the guest to shut down. If it does not, the VM stays on, and the task reports that.',
  }),
  operation({
    ...rule('reboot', ['POWERED_ON'], 'POWERED_ON', hostStep('reboot', { goal: 'reboot' }, stays)),
    forVapp: upwards,
    task: { name: 'vappRebootGuest', doing: 'Rebooting', done: 'Rebooted' },
    withinSeconds: 300,
    doc: 'Asks the guest to reboot. If it is unknown whether the guest was asked, the task reports that.',
  }),
  operation({
    ...rule('reset', ['POWERED_ON'], 'POWERED_ON', hostStep('reset', { goal: 'reset' }, stays)),
    forVapp: upwards,
    task: { name: 'vappReset', doing: 'Resetting', done: 'Reset' },
    withinSeconds: 300,
    doc: 'Resets the VM without shutting down the guest. If it is unknown whether that happened, the task reports that.',
  }),
  operation({
    name: 'discardSuspendedState',
    permission: 'vm:power',
    action: { path: 'action/discardSuspendedState', rel: 'discardState' },
    stores: 'nothing',
    bulk: true,
    forVapp: downwards,
    from: ['SUSPENDED'],
    to: 'POWERED_OFF',
    task: {
      name: 'vappDiscardSuspendedState',
      doing: 'Discarding the suspended state of',
      done: 'Discarded the suspended state of',
    },
    withinSeconds: 300,
    doc: 'Discards the saved memory of a suspended VM: the VM is off then, and boots at its next start.',
    steps: [hostStep('discard', { goal: 'noSavedState' }, stays)],
  }),
]
