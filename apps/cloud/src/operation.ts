import type { HostApi } from '@skerry/host-api'
import type { Body } from '@skerry/service'
import type { Order, TaskId } from '@skerry/vm'

import type { Permission } from './identity/roles.ts'
import type { VmRow } from './store/vms.ts'
import type { Rule, Status } from './vm-status.ts'
import type { StepWorld } from './world.ts'

/** What a step is given. All else it reads from Postgres: nothing is passed from step to step. */
export interface At<Input = unknown> {
  readonly world: StepWorld
  readonly vm: VmRow
  /** `found`: the VM's status when the task was first claimed, which undo leads back to. */
  readonly task: { readonly id: TaskId; readonly input: Input; readonly found: Status | null }
  readonly order: Order
  /** The VM's host; a Fault while it has none. */
  readonly host: () => HostApi
  readonly signal: AbortSignal
  readonly progress: (percent: number) => void
}

export interface Step<Input = unknown> {
  readonly name: string
  /** Minutes, with heartbeat and progress. Otherwise: seconds, and cheap to repeat. */
  readonly long?: true
  /** May run again after it has run: after a crash nobody knows whether it did. */
  run(at: At<Input>): Promise<void>
  /** May run without `run` having happened, and again. Or the reason why there is none. */
  readonly undo: ((at: At<Input>) => Promise<void>) | { readonly none: string }
}

export interface Action {
  readonly path: string
  readonly rel: string
  /** The document that it takes; clients look for a link by its type too. */
  readonly document?: string
}

/**
 * Something that can be asked of a VM and ends as a Task. Declared once; the address, its
 * authorisation, the link, the queue, the worker, the step matrix and the reference read it.
 */
export interface Operation<Input = unknown> extends Rule {
  readonly name: string
  readonly permission: Permission
  /** Its address and link; none when only other requests ask for it, as instantiate does for create. */
  readonly action?: Action
  readonly takes?: Body<Input>
  /** First version of the API that has it. */
  readonly since?: string
  /** Whether it would change anything, where the status alone does not say so: else it is not linked. */
  readonly offered?: (vm: VmRow) => boolean
  /** Refuses what can be seen to be wrong when it is asked for. */
  check?(vm: VmRow, input: Input): void
  /** operationName, and the text while it runs and when it is over. */
  readonly task: { readonly name: string; readonly doing: string; readonly done: string }
  /** How long it may take from its start; then it turns back. */
  readonly withinSeconds: number
  /** No cancel once this step has begun. */
  readonly noReturn?: string
  /** Nothing can be queued behind it. */
  readonly closes?: true
  readonly doc: string
  readonly steps: readonly Step<Input>[]
}

export function operation<Input = undefined>(declared: Operation<Input>): Operation {
  return declared as Operation
}
