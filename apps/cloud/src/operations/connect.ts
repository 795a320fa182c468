import type { TaskId } from '@skerry/vm'
import { sql } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx } from '../database/tables.ts'
import type { WantedNic } from '../domain/plan-nics.ts'
import { planNics, requireChangeable, writePlanned, type NicRow } from '../inventory/nics.ts'
import { reinstateNics } from '../inventory/restore-nics.ts'
import { lockClaimed } from '../inventory/vms.ts'
import { operation, type Step, type StepContext } from '../tasks/operation.ts'
import { definedGoal } from './create.ts'
import { hostStep } from './host-step.ts'

export interface ConnectInput {
  readonly nics: readonly WantedNic[]
  /** The cards that it had, stored when they are replaced. */
  readonly before?: readonly NicRow[]
}

const inputOf = ({ task }: StepContext) => task.input as ConnectInput | null

/** Repeated, it finds the cards as they are wanted and changes nothing. */
const write: Step = {
  name: 'write',
  rows: true,
  async run(at) {
    const { context, vm, order, task } = at
    const input = inputOf(at)
    if (!input) return
    await context.db.transaction().execute(async (tx) => {
      // Networks are locked before VMs, and both before rows are written: that also locks the rows of changes.
      const plan = await planNics(tx, new Map([[vm.id, input.nics]]))
      const locked = await lockClaimed(tx, vm.id, order.fencingToken)
      await requireChangeable(tx, locked, input.nics, plan.before)
      if (!input.before) await keepBefore(tx, task.id, plan.before)
      await writePlanned(tx, vm.org, plan)
      await emitEvent(tx, { kind: 'nic.changed', vm })
    })
  },
  undo: restore,
}

const keepBefore = (tx: Tx, task: TaskId, before: readonly NicRow[]): Promise<unknown> =>
  tx
    .updateTable('task')
    .set({ input: sql`input || ${JSON.stringify({ before })}::jsonb` })
    .where('id', '=', task)
    .execute()

async function restore(at: StepContext): Promise<void> {
  const { context, vm, order } = at
  const before = inputOf(at)?.before
  if (!before) return
  await context.db.transaction().execute(async (tx) => {
    if (!(await reinstateNics(tx, vm, order.fencingToken, before))) return
    await emitEvent(tx, { kind: 'nic.changed', vm })
  })
}

const defined = hostStep('define', definedGoal, definedGoal)

/** Power-on sends no cards: a host must never be left with others than those that are stored. */
const define: Step = {
  ...defined,
  async undo(at) {
    // Nothing was replaced: its host has the cards that are stored.
    if (!inputOf(at)?.before) return
    await restore(at)
    if (typeof defined.undo === 'function') await defined.undo(at)
  },
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
  steps: [write, define],
})
