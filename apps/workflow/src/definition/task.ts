/**
 * The tasks that we run: a closed part of the Serverless Workflow DSL 1.0, in the DSL's own shapes. What stands in a Definition has
 * been through the schema and the subset, so that these types hold. Nothing is imported here: the interpreter lives in Temporal's
 * sandbox and takes this file as it is.
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

/** What every task may have beside its own part. */
export interface AnyTask {
  /** Not met: the task is skipped, its input is its output. */
  readonly if?: Expression
  readonly input?: Input
  readonly output?: Output
  readonly export?: Export
  readonly timeout?: Timeout | NameOf<'timeouts'>
  readonly then?: Flow
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** One task after the other: each item has one key, the task's name. */
export type TaskList = readonly TaskItem[]
export type TaskItem = Readonly<Record<string, Task>>

export interface DoTask extends AnyTask {
  readonly do: TaskList
}

export interface SetTask extends AnyTask {
  /** Data with expressions in it; from DSL 1.0.1 also one expression for the whole. */
  readonly set: Readonly<Record<string, unknown>> | Expression
}

export interface SwitchTask extends AnyTask {
  /** The first that is met is taken; one without `when` is always met. */
  readonly switch: readonly Readonly<Record<string, SwitchCase>>[]
}
export interface SwitchCase {
  readonly when?: Expression
  readonly then: Flow
}

export interface ForTask extends AnyTask {
  readonly for: {
    /** The variable's name; `item` unless told. */
    readonly each?: string
    readonly in: Expression
    /** `index` unless told. */
    readonly at?: string
  }
  readonly while?: Expression
  readonly do: TaskList
}

export interface ForkTask extends AnyTask {
  readonly fork: {
    readonly branches: TaskList
    /** The first to end wins, and the others are cancelled. */
    readonly compete?: boolean
  }
}

export interface TryTask extends AnyTask {
  readonly try: TaskList
  readonly catch: Catch
}
export interface Catch {
  readonly errors?: { readonly with?: ErrorFilter }
  /** The variable's name; `error` unless told. */
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
/** Between two attempts: the delay, the delay × attempt, or the delay × 2^(attempt − 1). */
export type Backoff =
  | { readonly constant: Empty }
  | { readonly linear: Empty }
  | { readonly exponential: Empty }
type Empty = Readonly<Record<string, never>>

export interface WaitTask extends AnyTask {
  readonly wait: Duration
}

/** Waits for events that are sent to this run, or for a person's answer: the event `skerry.interaction`. */
export interface ListenTask extends AnyTask {
  readonly listen: {
    readonly to:
      | { readonly one: EventFilter }
      | { readonly any: readonly EventFilter[] }
      | { readonly all: readonly EventFilter[] }
    /** The events' data unless told. The output is always a list, in the order in which the events came. */
    readonly read?: 'data' | 'envelope' | 'raw'
  }
}
/** Attributes of a CloudEvent that must be equal; the type always, so that a sender can be told which events are waited for. */
export interface EventFilter {
  readonly with: {
    readonly type: string
    readonly source?: string
    readonly subject?: string
    readonly id?: string
    /** Looks at the event's data, and says whether it is meant. */
    readonly data?: Expression
  }
}

/** The type of the event that a person's answer is. A listen task to it has `metadata.interaction`. */
export const INTERACTION_EVENT = 'skerry.interaction'

/** What a person is asked: in the task's `metadata.interaction`, where the DSL leaves room for what is ours. */
export interface Interaction {
  /** Both may hold expressions, which see the task's input. */
  readonly title: string
  readonly text?: string
  /** JSON Schema of the answer, whose properties are the form's fields; the event's data is the answer. */
  readonly form: object
}

export interface RaiseTask extends AnyTask {
  readonly raise: { readonly error: RaisedError | NameOf<'errors'> }
}
/** As RFC 7807 has it. Each text may be an expression; the instance is the task's own place unless told. */
export interface RaisedError {
  readonly type: string
  readonly status: number
  readonly title?: string
  readonly detail?: string
  readonly instance?: string
}

/** A workflow of the same organisation; its output is the task's. */
export interface RunWorkflowTask extends AnyTask {
  readonly run: {
    readonly workflow: {
      readonly namespace: string
      readonly name: string
      /** As `document.version`, or `latest`. */
      readonly version: string
      /** Data with expressions in it. */
      readonly input?: Readonly<Record<string, unknown>>
    }
    /** False: started, and not waited for; the output is the input. True unless told. */
    readonly await?: boolean
  }
}

export interface CallHttpTask extends AnyTask {
  readonly call: 'http'
  readonly with: {
    readonly method: string
    /** A URI, perhaps with {names} of top-level values of the input, or an expression. */
    readonly endpoint:
      | string
      | { readonly uri: string; readonly authentication?: Authentication | UsedByName }
    readonly headers?: Readonly<Record<string, unknown>>
    readonly body?: unknown
    readonly query?: Readonly<Record<string, unknown>>
    /** `content` unless told. */
    readonly output?: 'raw' | 'content' | 'response'
    /** True: 3xx is an answer and no error. It is never followed. */
    readonly redirect?: boolean
  }
}
/** Passwords and tokens are expressions, never words of the definition: that one is exported. */
export type Authentication =
  | { readonly basic: { readonly username: string; readonly password: Expression } }
  | { readonly bearer: { readonly token: Expression } }
export interface UsedByName {
  readonly use: string
}

/** A function of ours (`skerry.vm.powerOn`) or one of `use.functions`. */
export interface CallFunctionTask extends AnyTask {
  readonly call: string
  readonly with?: Readonly<Record<string, unknown>>
}

/** What the document holds for its tasks to name. */
export interface Use {
  readonly authentications?: Readonly<Record<string, Authentication>>
  readonly errors?: Readonly<Record<string, RaisedError>>
  /** Run with the call's `with` as input. They never call themselves, nor round about. */
  readonly functions?: Readonly<Record<string, Task>>
  readonly retries?: Readonly<Record<string, Retry>>
  readonly timeouts?: Readonly<Record<string, Timeout>>
}
/** A key of that part of `use`; it is there. */
export type NameOf<Part extends keyof Use> = string & { readonly part?: Part }

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
/** JSON Schema in the text itself; nothing is fetched. */
export interface Schema {
  readonly format?: string
  readonly document: object
}
export interface Timeout {
  readonly after: Duration
}

/** jq, bare or as `${ … }`; ./expression.ts takes the wrapping away. */
export type Expression = string
/** An expression, or data with expressions in it. */
export type Transform = Expression | Readonly<Record<string, unknown>>
/** ISO 8601, or its parts. */
export type Duration =
  | string
  | {
      readonly days?: number
      readonly hours?: number
      readonly minutes?: number
      readonly seconds?: number
      readonly milliseconds?: number
    }
/** On to the next, out of this list, the end of the workflow, or the name of a task in the same list. */
export type Flow = 'continue' | 'exit' | 'end' | (string & {})

/** A task with the word for what it is, for a `switch` that the compiler sees to be whole. */
export type Sorted =
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
export type TaskKind = Sorted['kind']

export function sortTask(task: Task): Sorted {
  // A loop has a `do` too, so it is asked for first.
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

/** A task of a list: its name, itself, and where it stands (`/do/0/name`), which is how errors and steps name it. */
export interface Placed {
  readonly name: string
  readonly task: Task
  readonly place: string
}

/** The tasks of a list that stands at `place`: `/do`, `/do/1/loop/do`, `/do/2/both/fork/branches`. */
export const placed = (list: TaskList, place: string): Placed[] =>
  list.flatMap((item, index) =>
    Object.entries(item).map(([name, task]) => ({
      name,
      task,
      place: `${place}/${index}/${escapePointer(name)}`,
    })),
  )

/** One step of a JSON pointer (RFC 6901). */
export const escapePointer = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1')

/** What a listen task asks a person; undefined: it waits for a program's event. */
export const interactionOf = (task: ListenTask): Interaction | undefined =>
  task.metadata?.['interaction'] as Interaction | undefined
