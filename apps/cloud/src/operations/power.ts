import type { Goal } from '@skerry/host-api'

import { hostStep } from '../host-step.ts'
import { operation, type At, type Operation, type Step } from '../operation.ts'
import { writeClaimed } from '../store/vms.ts'
import type { Status } from '../vm-status.ts'

const rule = (name: string, from: readonly Status[], to: Status, step: Step) => ({
  ...{ name, from, to, steps: [step] },
  permission: 'vm:power' as const,
  action: { path: `power/action/${name}`, rel: `power:${name}` },
})

/** Off would throw away what a suspended guest had in memory. */
const back = ({ task }: At): Goal => ({
  be: 'power',
  to: task.found === 'SUSPENDED' ? 'suspended' : 'off',
})
const stays = { none: 'what the guest lost by it cannot be given back' }

/** From the first start on, the VM leaves its host only by migration. */
async function marked({ world, vm, order }: At): Promise<void> {
  if (!vm.sent_on) await writeClaimed(world.db, vm.id, order.number, { sent_on: true })
}

const to = (power: 'on' | 'off' | 'suspended'): Goal => ({ be: 'power', to: power })

export const powerOperations: readonly Operation[] = [
  operation({
    ...rule(
      'powerOn',
      ['POWERED_OFF', 'SUSPENDED'],
      'POWERED_ON',
      hostStep('power', to('on'), back, { before: marked }),
    ),
    task: { name: 'vappDeploy', doing: 'Starting', done: 'Started' },
    withinSeconds: 300,
    doc: 'Starts the VM, or lets it go on where it was suspended.',
  }),
  operation({
    ...rule('powerOff', ['POWERED_ON'], 'POWERED_OFF', hostStep('power', to('off'), stays)),
    task: { name: 'vappPowerOff', doing: 'Stopping', done: 'Stopped' },
    withinSeconds: 300,
    doc: 'Takes the power away, as pulling the plug does.',
  }),
  operation({
    ...rule(
      'suspend',
      ['POWERED_ON'],
      'SUSPENDED',
      hostStep('power', to('suspended'), stays, { long: true }),
    ),
    task: { name: 'vappSuspend', doing: 'Suspending', done: 'Suspended' },
    withinSeconds: 1800,
    doc: 'Writes its memory to disk and stops it; powerOn brings it back as it was.',
  }),
  operation({
    ...rule(
      'shutdown',
      ['POWERED_ON'],
      'POWERED_OFF',
      hostStep('shutdown', { be: 'shutdown' }, stays, { long: true }),
    ),
    task: { name: 'vappShutdownGuest', doing: 'Shutting down', done: 'Shut down' },
    withinSeconds: 300,
    doc: 'Asks the guest to shut itself down. One that does not stays on, and the task says so.',
  }),
  operation({
    ...rule('reboot', ['POWERED_ON'], 'POWERED_ON', hostStep('reboot', { be: 'reboot' }, stays)),
    task: { name: 'vappRebootGuest', doing: 'Rebooting', done: 'Rebooted' },
    withinSeconds: 300,
    doc: 'Asks the guest to start anew. If nobody can say whether it was asked, the task says so.',
  }),
  operation({
    ...rule('reset', ['POWERED_ON'], 'POWERED_ON', hostStep('reset', { be: 'reset' }, stays)),
    task: { name: 'vappReset', doing: 'Resetting', done: 'Reset' },
    withinSeconds: 300,
    doc: 'Presses the reset button. If nobody can say whether it happened, the task says so.',
  }),
  operation({
    name: 'discardSuspendedState',
    permission: 'vm:power',
    action: { path: 'action/discardSuspendedState', rel: 'discardState' },
    from: ['SUSPENDED'],
    to: 'POWERED_OFF',
    task: {
      name: 'vappDiscardSuspendedState',
      doing: 'Discarding the suspended state of',
      done: 'Discarded the suspended state of',
    },
    withinSeconds: 300,
    doc: 'Throws away what a suspended guest had in memory: the VM is off, and boots at its next start.',
    steps: [hostStep('discard', { be: 'discarded' }, stays)],
  }),
]
