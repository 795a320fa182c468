import { emitEvent } from '../database/events.ts'
import type { WantedNic } from '../domain/plan-nics.ts'
import { planNics, requireChangeable, writePlanned } from '../inventory/nics.ts'
import { lockClaimed } from '../inventory/vms.ts'
import { operation, type Step } from '../tasks/operation.ts'
import { definedGoal } from './create.ts'
import { hostStep } from './host-step.ts'

export interface ConnectInput {
  readonly nics: readonly WantedNic[]
}

/** Repeated, it finds the cards as they are wanted and changes nothing. */
const write: Step = {
  name: 'write',
  rows: true,
  async run({ context, vm, order, task }) {
    const input = task.input as ConnectInput | null
    if (!input) return
    await context.db.transaction().execute(async (tx) => {
      // Networks are locked before VMs, and both before rows are written: that also locks the rows of changes.
      const plan = await planNics(tx, new Map([[vm.id, input.nics]]))
      const locked = await lockClaimed(tx, vm.id, order.fencingToken)
      await requireChangeable(tx, locked, input.nics, plan.before)
      await writePlanned(tx, vm.org, plan)
      await emitEvent(tx, { kind: 'nic.changed', vm })
    })
  },
  undo: { none: 'the next request sends the cards as they are stored' },
}

/** Started by PUT {vm}/networkConnectionSection. */
export const connectVm = operation({
  name: 'connect',
  permission: 'vm:edit',
  stores: 'nothing',
  forVapp: { none: 'the document describes one VM' },
  from: ['POWERED_OFF', 'POWERED_ON'],
  task: { name: 'vappUpdateVm', doing: 'Connecting', done: 'Connected' },
  withinSeconds: 600,
  noReturn: 'write',
  doc: 'Changes the network cards of the VM. While it is on, only whether they are connected.',
  steps: [
    write,
    hostStep('define', definedGoal, {
      none: 'the next request sends the cards as they are stored',
    }),
  ],
})
