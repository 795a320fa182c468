import { Fault } from '@skerry/fault'
import { every } from '@skerry/service'
import type { VmId } from '@skerry/vm'

import type { WorkerContext } from '../context.ts'
import type { Claim, TaskRow } from '../database/tables.ts'
import { decideFor, powersOf } from '../domain/vm-status.ts'
import type { VmRow } from '../inventory/vms.ts'
import {
  claimTask,
  commitTask,
  readClaimed,
  recordProgress,
  turnBack,
  type ClaimRules,
  type ClaimReason,
} from '../tasks/claim-task.ts'
import { endTask } from '../tasks/end-task.ts'
import type { StepContext, Operation, Step } from '../tasks/operation.ts'
import { recordFailedAttempt } from '../tasks/waits.ts'
import { LONG_STEP_SECONDS, QUICK_STEP_SECONDS } from './step-seconds.ts'

/** A claimed task as the queue needs it: names only, so that no workflow history depends on our code. */
export interface Plan extends Claim {
  readonly direction: 'forward' | 'back'
  readonly steps: readonly {
    readonly name: string
    readonly long: boolean
    readonly undo: boolean
  }[]
}

/** Gives the signal that stops a long step. */
export type CurrentActivity = () => { readonly signal: AbortSignal }

export interface ActivityRules extends Pick<ClaimRules, 'perHost' | 'perOrg'> {
  /** Receives how long a task has waited, when it is claimed for the first time. */
  readonly began?: (seconds: number) => void
}

/** How often a long step checks for cancellation. */
const LOOK_MS = 2000

/** Both times are the database's. */
const secondsWaited = ({ created_at: created, started_at: started }: TaskRow): number =>
  ((started ?? created).getTime() - created.getTime()) / 1000

/** The five verbs that carry out every operation. */
export class Activities {
  readonly #context: WorkerContext
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #rules: ClaimRules
  readonly #running: CurrentActivity
  readonly #began: (seconds: number) => void

  constructor(
    context: WorkerContext,
    operations: readonly Operation[],
    rules: ActivityRules,
    running: CurrentActivity,
  ) {
    this.#context = context
    this.#operations = new Map(operations.map((operation) => [operation.name, operation]))
    this.#rules = { ...rules, within: (name) => this.#named(name).withinSeconds }
    this.#running = running
    this.#began = rules.began ?? (() => undefined)
  }

  /** Returns the next task that has work to do; ends tasks that have none on the way. */
  claimTask = async (id: VmId, holder: string): Promise<Plan | undefined> => {
    const { db } = this.#context
    for (;;) {
      const claimed = await claimTask(db, id, holder, this.#rules)
      if (!claimed) return undefined
      const { task, vm, fence, first } = claimed
      if (first) this.#began(secondsWaited(task))
      const claim = { task: task.id, fence }
      const operation = this.#named(task.operation)
      const steps = operation.steps.map(planned)
      const { direction } = task
      if (direction === 'back') return { ...claim, direction, steps }
      const decision = isAtHost(vm, operation) ? 'go' : decideFor(vm, vm.status, operation)
      if (decision === 'go' && !task.cancel_requested) return { ...claim, direction, steps }
      if (decision === 'nothing' && !task.cancel_requested) {
        if (await this.endTask(claim)) continue
        return undefined
      }
      const back = await turnBack(db, claim, whyNot(task, vm))
      if (!first) return { ...claim, fence: back, direction: 'back', steps }
      if (!(await this.endTask({ ...claim, fence: back }))) return undefined
    }
  }

  runStep = async (claim: Claim, name: string): Promise<void> => {
    const { db } = this.#context
    const { operation, step, at, task } = await this.#stepOf(claim, name)
    if (!task.past_no_return) {
      if (task.cancel_requested) throw new Fault('canceled', 'the task was canceled')
      if (task.late) throw tooLate(operation)
    }
    if (operation.noReturn === name) await commitTask(db, task.id)
    const ended = new AbortController()
    if (step.long) this.#lookForCancel(claim, at, ended.signal)
    try {
      await step.run(at)
    } catch (error) {
      await this.#noteFailure(claim, error, step)
      throw error
    } finally {
      ended.abort()
    }
    const share = (operation.steps.indexOf(step) + 1) / operation.steps.length
    // After the last step the task ends, which sets the progress.
    if (share < 1) await recordProgress(db, claim, 99 * share, { stepDone: true })
  }

  undoStep = async (claim: Claim, name: string): Promise<void> => {
    const { step, at } = await this.#stepOf(claim, name, ':undo')
    if (typeof step.undo !== 'function') return
    try {
      await step.undo(at)
    } catch (error) {
      await this.#noteFailure(claim, error, step)
      throw error
    }
  }

  turnBack = (claim: Claim, reason: ClaimReason): Promise<string> =>
    turnBack(this.#context.db, claim, reason)

  /** Returns whether the VM's queue should be checked again. */
  endTask = async (claim: Claim): Promise<boolean> => {
    const { others, more } = await endTask(this.#context.db, claim)
    // The sweep repeats a lost wake-up.
    for (const vm of others) this.#context.wake(vm)
    return more
  }

  #named(name: string): Operation {
    const found = this.#operations.get(name)
    if (found) return found
    throw new Fault('conflict', `unknown operation in this release: ${name}`)
  }

  /** Records why the task waits for its next attempt. A failure here must not hide the failure of the step. */
  async #noteFailure(claim: Claim, error: unknown, { long }: Step): Promise<void> {
    const within = long ? LONG_STEP_SECONDS : QUICK_STEP_SECONDS
    await recordFailedAttempt(this.#context.db, claim, error, within).catch(() => undefined)
  }

  async #stepOf(claim: Claim, name: string, mark = '') {
    const context = this.#context
    const { task, vm } = await readClaimed(context.db, claim)
    const operation = this.#named(task.operation)
    const step = operation.steps.find((one) => one.name === name)
    if (!step) throw new Fault('conflict', `operation ${task.operation} has no step ${name}`)
    // The host checks the power state itself, because the row of the VM may be outdated. Only the first step states where it starts
    // from: later steps start where the first one ended, and an undo starts from any state.
    const isFirst = step === operation.steps.find(({ rows }) => !rows)
    const from = mark === '' && isFirst ? powersOf(operation.from) : undefined
    const order = {
      vm: vm.id,
      task: task.id,
      key: `${task.id}:${name}${mark}`,
      fencingToken: claim.fence,
      incarnation: vm.incarnation,
      ...(from && { from }),
    }
    const host = () => {
      if (vm.host === null) throw new Fault('conflict', `VM ${vm.name} has no host yet`)
      return context.hosts(vm.host)
    }
    const { signal } = this.#running()
    let reached = 0
    const progress = (percent: number) => {
      reached = percent
    }
    const at: StepContext & { readonly reached: () => number } = {
      context,
      vm,
      task,
      order,
      host,
      signal,
      progress,
      reached: () => reached,
    }
    return { operation, step, at, task }
  }

  /** Keeps the lease, records the progress, and stops the host's work when the task is canceled. */
  #lookForCancel(
    claim: Claim,
    at: StepContext & { readonly reached: () => number },
    ended: AbortSignal,
  ): void {
    const { db } = this.#context
    const look = async () => {
      await readClaimed(db, claim)
      const now = await recordProgress(db, claim, at.reached())
      if (now?.cancel) await at.host().stop(at.vm.id, at.order.key)
    }
    // The step fails for the same reason and reports it.
    every(LOOK_MS, ended, look, () => undefined)
  }
}

/**
 * The host decides about the VMs that it has, when the step reaches it: the row may be outdated, for example after a restart of
 * vmd, and then both "already in this state" and "wrong state" could be false.
 */
const isAtHost = ({ host, lost_reason: lost, status }: VmRow, { from }: Operation): boolean =>
  host !== null && lost === null && powersOf([status]) !== undefined && powersOf(from) !== undefined

const planned = ({ name, long, undo }: Step): Plan['steps'][number] => ({
  name,
  long: long ?? false,
  undo: typeof undo === 'function',
})

const whyNot = (task: TaskRow, vm: VmRow): ClaimReason =>
  task.cancel_requested
    ? { kind: 'canceled', message: 'the task was canceled' }
    : {
        kind: 'conflict',
        message: `${task.operation}: the VM is now ${vm.lost_reason ?? vm.status}`,
      }

/** Not a retryable fault: it would be retried for ever. */
const tooLate = ({ task, withinSeconds }: Operation): Fault =>
  new Fault('interrupted', `${task.doing} did not finish within ${withinSeconds} s`)
