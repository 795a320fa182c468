import type { HostApi } from '@skerry/host-api'
import type { Order, TaskId } from '@skerry/vm'

import type { WorkerContext } from '../context.ts'
import type { Permission } from '../domain/roles.ts'
import type { VmTaskKind } from '../domain/task-kind.ts'
import type { StatusRule, Status } from '../domain/vm-status.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { RequestDocument } from '../params/request-document.ts'

/** The context of a step. It reads everything else from PostgreSQL: steps pass nothing to each other. */
export interface StepContext<Input = unknown> {
  readonly context: WorkerContext
  readonly vm: VmRow
  /** `found`: the VM's status when the task was first claimed, which undo restores. */
  readonly task: {
    readonly id: TaskId
    readonly input: Input
    readonly status_before: Status | null
  }
  readonly order: Order
  /** The VM's host; throws a Fault while it has none. */
  readonly host: () => HostApi
  readonly signal: AbortSignal
  readonly progress: (percent: number) => void
}

export interface Step<Input = unknown> {
  readonly name: string
  /** Changes only rows of the cloud; calls no host. */
  readonly rows?: true
  /** Takes minutes, with heartbeat and progress. Otherwise it takes seconds and is cheap to repeat. */
  readonly long?: true
  /** Must be safe to repeat: after a crash it is unknown whether it ran. */
  run(at: StepContext<Input>): Promise<void>
  /** Must be safe to repeat, also if `run` never happened. Or the reason why there is no undo. */
  readonly undo: ((at: StepContext<Input>) => Promise<void>) | { readonly none: string }
}

export interface Action {
  readonly path: string
  readonly rel: string
  /** The document that it takes; clients also find links by this type. */
  readonly document?: string
  /** A second link to the same action, as clients of the original API look for it: its path is `action/` and its rel. */
  readonly also?: { readonly rel: string; readonly document: string }
  /** Why neither a workflow function nor a command of `skerry` calls it. */
  readonly noClient?: string
}

/** How an operation applies to a vApp: to each VM that can take it; the others stay as they are. */
export interface VappRule {
  /** By the start order of the VMs. */
  readonly order: 'first to last' | 'last to first' | 'at once'
  /** Whether a VM that fails cancels those after it. */
  readonly stopsOnFailure: boolean
}

/**
 * An operation on a VM that runs as a Task. Declared once; the route, its authorisation, the link,
 * the queue, the worker, the step matrix and the reference are derived from it.
 */
export interface Operation<Input = unknown> extends StatusRule {
  readonly name: string
  readonly kind: VmTaskKind
  readonly permission: Permission
  /** Its path and link; missing if only other requests start it, as instantiate does for create. */
  readonly action?: Action
  readonly takes?: RequestDocument<Input>
  /** First version of the API that has it. */
  readonly since?: string
  /** Whether it would change anything, if the status alone does not decide that; otherwise it is not linked, for that reason. */
  readonly offered?: { readonly when: (vm: VmRow) => boolean; readonly otherwise: string }
  /** Rejects what is recognisably wrong at submission, for a VM or for each VM of a vApp. */
  check?(vm: VmRow, input: Input): void
  /** MiB that it will store on the VM's host besides the VM's disk: they count against the quota from submission on. */
  readonly stores: 'nothing' | ((vm: VmRow, input: Input) => number)
  /** Its form for vApps, or the reason why it has none. Operations with the same path are one action; each VM gets the offered one. */
  readonly forVapp: VappRule | { readonly none: string }
  /** It can be applied to all VMs of a query in one request: it takes no document, and means the same for every VM. */
  readonly bulk?: true
  /** operationName, and the texts while it runs and after it succeeded. */
  readonly task: { readonly name: string; readonly doing: string; readonly done: string }
  /** Timeout in seconds, from its start; then it is rolled back. */
  readonly withinSeconds: number
  /** Cannot be canceled once this step has begun. */
  readonly noReturn?: string
  readonly doc: string
  readonly steps: readonly Step<Input>[]
}

/** Default: its kind is `change`. */
export function operation<Input = undefined>(
  declared: Omit<Operation<Input>, 'kind'> & { readonly kind?: VmTaskKind },
): Operation {
  return { kind: 'change', ...declared } as Operation
}
