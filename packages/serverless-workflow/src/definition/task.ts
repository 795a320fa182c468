/**
 * The supported tasks: a closed subset of the Serverless Workflow DSL 1.0, in the DSL's own format. A Definition has been validated
 * against the schema and the subset, so these types hold. This file has no imports: the interpreter in Temporal's sandbox uses it
 * as it is.
 */
export type Task =
  | DoTask
  | SetTask
  | SwitchTask
  | ForTask
  | ForkTask
  | TryTask
  | WaitTask
  | ListenTask
  | RaiseTask
  | RunWorkflowTask
  | CallHttpTask
  | CallFunctionTask

/** The keys that every task may have. */
export interface AnyTask {
  /** If false, the task is skipped and its output is its input. */
  readonly if?: Expression
  readonly input?: Input
  readonly output?: Output
  readonly export?: Export
  readonly timeout?: Timeout | NameOf<'timeouts'>
  readonly then?: Flow
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Tasks in sequence: each item has one key, the name of the task. */
export type TaskList = readonly TaskItem[]
export type TaskItem = Readonly<Record<string, Task>>

export interface DoTask extends AnyTask {
  readonly do: TaskList
}

export interface SetTask extends AnyTask {
  /** Data with expressions in it; from DSL 1.0.1 also one expression for all of it. */
  readonly set: Readonly<Record<string, unknown>> | Expression
}

export interface SwitchTask extends AnyTask {
  /** The first matching case wins; a case without `when` always matches. */
  readonly switch: readonly Readonly<Record<string, SwitchCase>>[]
}
export interface SwitchCase {
  readonly when?: Expression
  readonly then: Flow
}

export interface ForTask extends AnyTask {
  readonly for: {
    /** The variable name. Default: `item`. */
    readonly each?: string
    readonly in: Expression
    /** Default: `index`. */
    readonly at?: string
  }
  readonly while?: Expression
  readonly do: TaskList
}

export interface ForkTask extends AnyTask {
  readonly fork: {
    readonly branches: TaskList
    /** The first branch to end wins; the others are canceled. */
    readonly compete?: boolean
  }
}

export interface TryTask extends AnyTask {
  readonly try: TaskList
  readonly catch: Catch
}
export interface Catch {
  readonly errors?: { readonly with?: ErrorFilter }
  /** The variable name. Default: `error`. */
  readonly as?: string
  readonly when?: Expression
  readonly exceptWhen?: Expression
  readonly retry?: Retry | NameOf<'retries'>
  readonly do?: TaskList
}
export interface ErrorFilter {
  readonly type?: string
  readonly status?: number
  readonly instance?: string
  readonly title?: string
  readonly details?: string
}
export interface Retry {
  readonly when?: Expression
  readonly exceptWhen?: Expression
  readonly delay?: Duration
  readonly backoff?: Backoff
  readonly limit?: {
    readonly attempt?: { readonly count?: number; readonly duration?: Duration }
    readonly duration?: Duration
  }
  readonly jitter?: { readonly from: Duration; readonly to: Duration }
}
/** The wait between two attempts: the delay, the delay × attempt, or the delay × 2^(attempt − 1). */
export type Backoff =
  | { readonly constant: Empty }
  | { readonly linear: Empty }
  | { readonly exponential: Empty }
type Empty = Readonly<Record<string, never>>

export interface WaitTask extends AnyTask {
  readonly wait: Duration
}

/** Waits for events that are sent to this run, or for a user's answer: the event `skerry.interaction`. */
export interface ListenTask extends AnyTask {
  readonly listen: {
    readonly to:
      | { readonly one: EventFilter }
      | { readonly any: readonly EventFilter[] }
      | { readonly all: readonly EventFilter[] }
    /** Default: the events' data. The output is always a list, in the order of arrival. */
    readonly read?: 'data' | 'envelope' | 'raw'
  }
}
/** CloudEvent attributes that must be equal. The type is required, so that a sender can see which events a run waits for. */
export interface EventFilter {
  readonly with: {
    readonly type: string
    readonly source?: string
    readonly subject?: string
    readonly id?: string
    /** A condition on the event's data. */
    readonly data?: Expression
  }
}

/** The event type of a user's answer. A listen task for it has `metadata.interaction`. */
export const INTERACTION_EVENT = 'skerry.interaction'

/** A question to a user, in the task's `metadata.interaction`: the DSL's extension point. */
export interface Interaction {
  /** Both may contain expressions, which see the task's input. */
  readonly title: string
  readonly text?: string
  /** JSON Schema of the answer; its properties are the form's fields. The event's data is the answer. */
  readonly form: object
  /** `other`: not the user who started the run or owns its schedule. Default: `anyone` who may run workflows. */
  readonly approver?: 'anyone' | 'other'
}

export interface RaiseTask extends AnyTask {
  readonly raise: { readonly error: RaisedError | NameOf<'errors'> }
}
/** An RFC 7807 error. Each text may be an expression. Default of the instance: the task's place. */
export interface RaisedError {
  readonly type: string
  readonly status: number
  readonly title?: string
  readonly detail?: string
  readonly instance?: string
}

/** Runs a workflow of the same organisation; its output becomes the task's output. */
export interface RunWorkflowTask extends AnyTask {
  readonly run: {
    readonly workflow: {
      readonly namespace: string
      readonly name: string
      /** A `document.version`, or `latest`. */
      readonly version: string
      /** Data with expressions in it. */
      readonly input?: Readonly<Record<string, unknown>>
    }
    /** False: start it and do not wait; the output is the input. Default: true. */
    readonly await?: boolean
  }
}

export interface CallHttpTask extends AnyTask {
  readonly call: 'http'
  readonly with: {
    readonly method: string
    /** A URI, optionally with {names} of top-level values of the input, or an expression. */
    readonly endpoint:
      | string
      | { readonly uri: string; readonly authentication?: Authentication | UsedByName }
    readonly headers?: Readonly<Record<string, unknown>>
    readonly body?: unknown
    readonly query?: Readonly<Record<string, unknown>>
    /** Default: `content`. */
    readonly output?: 'raw' | 'content' | 'response'
    /** True: 3xx is a normal response, not an error. Redirects are never followed. */
    readonly redirect?: boolean
  }
}
/** Passwords and tokens must be expressions, never literals, because definitions are exported. */
export type Authentication =
  | { readonly basic: { readonly username: string; readonly password: Expression } }
  | { readonly bearer: { readonly token: Expression } }
export interface UsedByName {
  readonly use: string
}

/** A built-in function (`skerry.vm.powerOn`) or one of `use.functions`. */
export interface CallFunctionTask extends AnyTask {
  readonly call: string
  readonly with?: Readonly<Record<string, unknown>>
}

/** Named parts of the document that its tasks refer to. */
export interface UseSection {
  readonly authentications?: Readonly<Record<string, Authentication>>
  readonly errors?: Readonly<Record<string, RaisedError>>
  /** Run with the call's `with` as input. They never call themselves, directly or indirectly. */
  readonly functions?: Readonly<Record<string, Task>>
  readonly retries?: Readonly<Record<string, Retry>>
  readonly timeouts?: Readonly<Record<string, Timeout>>
}
/** An existing key of that part of `use`. */
export type NameOf<Part extends keyof UseSection> = string & { readonly part?: Part }

export interface Input {
  readonly schema?: Schema
  readonly from?: Transform
}
export interface Output {
  readonly schema?: Schema
  readonly as?: Transform
}
export interface Export {
  readonly schema?: Schema
  readonly as?: Transform
}
/** An inline JSON Schema; nothing is fetched. */
export interface Schema {
  readonly format?: string
  readonly document: object
}
export interface Timeout {
  readonly after: Duration
}

/** jq, bare or as `${ … }`; ./expression.ts removes the wrapping. */
export type Expression = string
/** An expression, or data with expressions in it. */
export type Transform = Expression | Readonly<Record<string, unknown>>
/** An ISO 8601 duration, or its parts. */
export type Duration =
  | string
  | {
      readonly days?: number
      readonly hours?: number
      readonly minutes?: number
      readonly seconds?: number
      readonly milliseconds?: number
    }
/** The next task, the end of this list, the end of the workflow, or the name of a task in the same list. */
export type Flow = 'continue' | 'exit' | 'end' | (string & {})

/** A task with its kind, for a `switch` that the compiler can check for completeness. */
export type TaskOfKind =
  | { readonly kind: 'do'; readonly task: DoTask }
  | { readonly kind: 'set'; readonly task: SetTask }
  | { readonly kind: 'switch'; readonly task: SwitchTask }
  | { readonly kind: 'for'; readonly task: ForTask }
  | { readonly kind: 'fork'; readonly task: ForkTask }
  | { readonly kind: 'try'; readonly task: TryTask }
  | { readonly kind: 'wait'; readonly task: WaitTask }
  | { readonly kind: 'listen'; readonly task: ListenTask }
  | { readonly kind: 'raise'; readonly task: RaiseTask }
  | { readonly kind: 'run'; readonly task: RunWorkflowTask }
  | { readonly kind: 'http'; readonly task: CallHttpTask }
  | { readonly kind: 'function'; readonly task: CallFunctionTask }
export type TaskKind = TaskOfKind['kind']

export function sortTask(task: Task): TaskOfKind {
  // A loop has a `do` too, so check `for` first.
  if ('for' in task) return { kind: 'for', task }
  if ('do' in task) return { kind: 'do', task }
  if ('set' in task) return { kind: 'set', task }
  if ('switch' in task) return { kind: 'switch', task }
  if ('fork' in task) return { kind: 'fork', task }
  if ('try' in task) return { kind: 'try', task }
  if ('wait' in task) return { kind: 'wait', task }
  if ('listen' in task) return { kind: 'listen', task }
  if ('raise' in task) return { kind: 'raise', task }
  if ('run' in task) return { kind: 'run', task }
  if (isHttp(task)) return { kind: 'http', task }
  return { kind: 'function', task }
}

const isHttp = (task: CallHttpTask | CallFunctionTask): task is CallHttpTask => task.call === 'http'

/** A task in a list: its name, itself, and its place (`/do/0/name`), by which errors and steps refer to it. */
export interface ListedTask {
  readonly name: string
  readonly task: Task
  readonly place: string
}

/** The tasks of the list at `place`: `/do`, `/do/1/loop/do`, `/do/2/both/fork/branches`. */
export const listedTasks = (list: TaskList, place: string): ListedTask[] =>
  list.flatMap((item, index) =>
    Object.entries(item).map(([name, task]) => ({
      name,
      task,
      place: `${place}/${index}/${escapePointer(name)}`,
    })),
  )

/** Escapes one step of a JSON pointer (RFC 6901). */
export const escapePointer = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1')
export const unescapePointer = (step: string): string =>
  step.replaceAll('~1', '/').replaceAll('~0', '~')

/** The question of a listen task to a user; undefined: it waits for an event from a program. */
export const interactionOf = (task: ListenTask): Interaction | undefined =>
  task.metadata?.['interaction'] as Interaction | undefined
