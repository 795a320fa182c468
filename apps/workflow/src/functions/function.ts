import {
  cancelTask,
  taskIn,
  vappIn,
  vmIn,
  waitTask,
  type Cloud,
  type SeenVapp,
  type SeenVm,
  type Waiting,
} from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { type Static, type TSchema, Type } from '@skerry/schema'
import { UUID } from '@skerry/vm'
import { attribute, type Element } from '@skerry/xml'

/** The context of a built-in function. */
export interface FunctionContext extends Pick<Waiting, 'now' | 'pause' | 'progress'> {
  /** A cloud client with the permissions of this grant. */
  cloud(grant: string): Cloud
  /** Aborts waiting: the run was canceled, or this worker stops. */
  readonly signal?: AbortSignal
  /** Whether the run was canceled: only then is a started task rolled back. */
  readonly isCanceled?: () => boolean
}

/** A built-in function that a definition may call by name. */
export interface CloudFunction {
  readonly input: TSchema
  readonly output: TSchema
  readonly doc: string
  /** The key is the same for every attempt, so that the call takes effect once. */
  call(context: FunctionContext, grant: string, key: string, input: unknown): Promise<unknown>
}

/** One call of one function. */
export interface FunctionRun {
  readonly context: FunctionContext
  readonly cloud: Cloud
  readonly key: string
}

/** A row of the table; the input has been validated against its schema. */
export const cloudFunction = <Input extends TSchema>(row: {
  readonly input: Input
  readonly output: TSchema
  readonly doc: string
  call(calling: FunctionRun, input: Static<Input>): Promise<unknown>
}): CloudFunction => ({
  input: row.input,
  output: row.output,
  doc: row.doc,
  call: (context, grant, key, input) =>
    row.call({ context, cloud: context.cloud(grant), key }, input as Static<Input>),
})

export const closed = { additionalProperties: false } as const

/** A VM or a vApp by its id, its URN, its URL, or the bare UUID. */
export const reference = (kind: 'vm' | 'vapp') =>
  Type.String({
    pattern: `^((.*/)?${kind}-|urn:[a-z]+:${kind}:)?${UUID}$`,
    maxLength: 500,
    description: `Its id (\`${kind}-…\`), URN or URL.`,
  })

const uuidAtEnd = new RegExp(`${UUID}$`)
export const hrefOf = (kind: 'vm' | 'vapp', id: string): string =>
  `/api/vApp/${kind}-${uuidAtEnd.exec(id)?.[0] ?? ''}`

export const readVm = async ({ cloud, context }: FunctionRun, id: string): Promise<SeenVm> =>
  vmIn(await cloud.get(hrefOf('vm', id), context.signal))

export const readVapp = async ({ cloud, context }: FunctionRun, id: string): Promise<SeenVapp> =>
  vappIn(await cloud.get(hrefOf('vapp', id), context.signal))

/** How long to wait for a canceled task to roll back. */
const TURN_BACK_MS = 30_000

/** Sends a request and waits for its task. Returns the created resource, or the Task. */
export async function carryOut(
  calling: FunctionRun,
  method: 'POST' | 'PUT' | 'DELETE',
  href: string,
  body?: Element,
): Promise<Element | undefined> {
  const { context, cloud, key } = calling
  context.signal?.throwIfAborted()
  // Without the signal: we must know whether it was accepted to be able to roll it back.
  const answer = await cloud.act(method, href, { key, ...(body && { body }) })
  const task = answer && taskIn(answer)
  if (!task) return answer
  try {
    await waitTask(cloud, task, context)
  } catch (error) {
    if (context.signal?.aborted === true && context.isCanceled?.() === true) {
      await turnBack(calling, task)
    }
    throw error
  }
  return answer
}

/** Ignores failures: the run ends as canceled in any case, and the cloud ends the task later. */
async function turnBack({ cloud, context }: FunctionRun, task: Element): Promise<void> {
  const { now, pause } = context
  try {
    await cancelTask(cloud, attribute(task, 'href') ?? '')
    await waitTask(cloud, task, { now, pause, withinMs: TURN_BACK_MS })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
}
