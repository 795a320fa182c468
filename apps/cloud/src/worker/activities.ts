import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import type { At, Operation, Step } from '../operation.ts'
import {
  claimTask,
  commitTask,
  readClaimed,
  recordProgress,
  turnBack,
  type Claim,
  type ClaimRules,
  type Reason,
} from '../store/claim-task.ts'
import { endTask } from '../store/end-task.ts'
import type { Task } from '../store/queue.ts'
import type { VmRow } from '../store/vms.ts'
import { decideFor, powersOf } from '../vm-status.ts'
import type { StepWorld } from '../world.ts'

/** A claimed task as the queue needs it: names only, so that no history depends on our code. */
export interface Plan extends Claim {
  readonly direction: 'forward' | 'back'
  readonly steps: readonly {
    readonly name: string
    readonly long: boolean
    readonly undo: boolean
  }[]
}

/** How a step that takes long is stopped. */
export type Running = () => { readonly signal: AbortSignal }

export type ActivityRules = Pick<ClaimRules, 'perHost' | 'perOrg'>

/** How often a step that takes long looks whether it was asked to stop. */
const LOOK_MS = 2000

/** The five verbs of every operation there is. */
export class Activities {
  readonly #world: StepWorld
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #rules: ClaimRules
  readonly #running: Running

  constructor(
    world: StepWorld,
    operations: readonly Operation[],
    rules: ActivityRules,
    running: Running,
  ) {
    this.#world = world
    this.#operations = new Map(operations.map((operation) => [operation.name, operation]))
    this.#rules = { ...rules, within: (name) => this.#named(name).withinSeconds }
    this.#running = running
  }

  /** The next task that has something to do; those that have not are ended on the way. */
  claimTask = async (id: VmId, holder: string): Promise<Plan | undefined> => {
    const { db } = this.#world
    for (;;) {
      const claimed = await claimTask(db, id, holder, this.#rules)
      if (!claimed) return undefined
      const { task, vm, number, first } = claimed
      const claim = { task: task.id, number }
      const operation = this.#named(task.operation)
      const steps = operation.steps.map(planned)
      const { direction } = task
      if (direction === 'back') return { ...claim, direction, steps }
      const decision = isAtHost(vm, operation) ? 'go' : decideFor(vm, vm.status, operation)
      if (decision === 'go' && !task.cancel) return { ...claim, direction, steps }
      if (decision === 'nothing' && !task.cancel) {
        if (await this.endTask(claim)) continue
        return undefined
      }
      const back = await turnBack(db, claim, whyNot(task, vm))
      if (!first) return { ...claim, number: back, direction: 'back', steps }
      if (!(await this.endTask({ ...claim, number: back }))) return undefined
    }
  }

  runStep = async (claim: Claim, name: string): Promise<void> => {
    const { db } = this.#world
    const { operation, step, at, task } = await this.#stepOf(claim, name)
    if (!task.committed) {
      if (task.cancel) throw new Fault('canceled', 'it was asked to stop')
      if (task.late) throw tooLate(operation)
    }
    if (operation.noReturn === name) await commitTask(db, task.id)
    const look = step.long && this.#lookForCancel(claim, at)
    try {
      await step.run(at)
    } finally {
      clearInterval(look)
    }
    const share = (operation.steps.indexOf(step) + 1) / operation.steps.length
    // After the last one comes the end, which says it better.
    if (share < 1) await recordProgress(db, claim, 99 * share)
  }

  undoStep = async (claim: Claim, name: string): Promise<void> => {
    const { step, at } = await this.#stepOf(claim, name, ':undo')
    if (typeof step.undo === 'function') await step.undo(at)
  }

  turnBack = (claim: Claim, reason: Reason): Promise<string> =>
    turnBack(this.#world.db, claim, reason)

  /** Whether the VM's queue should be looked at again. */
  endTask = async (claim: Claim): Promise<boolean> => {
    const { others, more } = await endTask(this.#world.db, claim)
    // A bell that is lost is rung again by the sweep.
    for (const vm of others) this.#world.ring(vm)
    return more
  }

  #named(name: string): Operation {
    const found = this.#operations.get(name)
    if (found) return found
    throw new Fault('conflict', `this program knows no operation ${name}`)
  }

  async #stepOf(claim: Claim, name: string, mark = '') {
    const world = this.#world
    const { task, vm } = await readClaimed(world.db, claim)
    const operation = this.#named(task.operation)
    const step = operation.steps.find((one) => one.name === name)
    if (!step) throw new Fault('conflict', `${task.operation} has no step ${name}`)
    // The host looks for itself: what is written here of the VM may be over. Later steps begin where the first has led, and
    // undo leads back from anywhere.
    const from = mark === '' && step === operation.steps[0] ? powersOf(operation.from) : undefined
    const order = {
      ...{ vm: vm.id, task: task.id, key: `${task.id}:${name}${mark}` },
      ...{ number: claim.number, incarnation: vm.incarnation, ...(from && { from }) },
    }
    const host = () => {
      if (vm.host === null) throw new Fault('conflict', `VM ${vm.name} has no host yet`)
      return world.hosts(vm.host)
    }
    const { signal } = this.#running()
    let reached = 0
    const progress = (percent: number) => {
      reached = percent
    }
    const at: At & { readonly reached: () => number } = {
      ...{ world, vm, task, order, host, signal, progress },
      reached: () => reached,
    }
    return { operation, step, at, task }
  }

  /** Keeps the lease, tells how far it is, and asks the host to stop when somebody wants that. */
  #lookForCancel(claim: Claim, at: At & { readonly reached: () => number }): NodeJS.Timeout {
    const { db } = this.#world
    const look = async () => {
      await readClaimed(db, claim)
      const now = await recordProgress(db, claim, at.reached())
      if (now?.cancel) await at.host().stop(at.vm.id, at.order.key)
    }
    // What goes wrong here goes wrong in the step too, which says so.
    return setInterval(() => void look().catch(() => undefined), LOOK_MS)
  }
}

/**
 * What a host has is judged by that host, which looks at it when its turn comes: what is written here may be behind, as
 * after a restart of vmd, and then neither "it is so already" nor "it cannot be" would be true.
 */
const isAtHost = ({ host, fate, status }: VmRow, { from }: Operation): boolean =>
  host !== null && fate === null && powersOf([status]) !== undefined && powersOf(from) !== undefined

const planned = ({ name, long, undo }: Step): Plan['steps'][number] => ({
  ...{ name, long: long ?? false, undo: typeof undo === 'function' },
})

const whyNot = (task: Task, vm: VmRow): Reason =>
  task.cancel
    ? { kind: 'canceled', message: 'it was asked to stop' }
    : {
        kind: 'conflict',
        message: `${task.operation}: the VM has become ${vm.fate ?? vm.status} meanwhile`,
      }

/** Not a fault that passes: it would be tried again for ever. */
const tooLate = ({ task, withinSeconds }: Operation): Fault =>
  new Fault('interrupted', `${task.doing} was not over within ${withinSeconds} s`)
