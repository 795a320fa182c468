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
import { attribute, type Element } from '@skerry/xml'
import { Type, type Static, type TSchema } from 'typebox'

/** What a function of ours may reach. */
export interface FunctionWorld extends Pick<Waiting, 'now' | 'pause' | 'progress'> {
  /** The cloud as the run of this grant sees it. */
  cloud(grant: string): Cloud
  /** Not to wait any longer: the run was canceled, or this worker stops. */
  readonly signal?: AbortSignal
  /** Which of them: only of a run that was canceled is what was begun turned back. */
  readonly isCanceled?: () => boolean
}

/** What a definition may call by its name: all there is to know about it. */
export interface CloudFunction {
  readonly input: TSchema
  readonly output: TSchema
  readonly doc: string
  /** The key is the same however often this call is made: it takes effect once. */
  call(world: FunctionWorld, grant: string, key: string, input: unknown): Promise<unknown>
}

/** One call of one function. */
export interface Calling {
  readonly world: FunctionWorld
  readonly cloud: Cloud
  readonly key: string
}

/** A row of the table; what it takes has been held against its schema before. */
export const cloudFunction = <Input extends TSchema>(row: {
  readonly input: Input
  readonly output: TSchema
  readonly doc: string
  call(calling: Calling, input: Static<Input>): Promise<unknown>
}): CloudFunction => ({
  ...{ input: row.input, output: row.output, doc: row.doc },
  call: (world, grant, key, input) =>
    row.call({ world, cloud: world.cloud(grant), key }, input as Static<Input>),
})

export const closed = { additionalProperties: false } as const

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
/** A VM or a vApp by its id, its URN, its address, or the uuid alone. */
export const reference = (kind: 'vm' | 'vapp') =>
  Type.String({
    pattern: `^((.*/)?${kind}-|urn:[a-z]+:${kind}:)?${UUID}$`,
    maxLength: 500,
    description: `Its id (\`${kind}-…\`), URN or address.`,
  })

const uuidAtEnd = new RegExp(`${UUID}$`)
export const hrefOf = (kind: 'vm' | 'vapp', id: string): string =>
  `/api/vApp/${kind}-${uuidAtEnd.exec(id)?.[0] ?? ''}`

export const readVm = async ({ cloud, world }: Calling, id: string): Promise<SeenVm> =>
  vmIn(await cloud.get(hrefOf('vm', id), world.signal))

export const readVapp = async ({ cloud, world }: Calling, id: string): Promise<SeenVapp> =>
  vappIn(await cloud.get(hrefOf('vapp', id), world.signal))

/** How long a canceled task may take to turn back before nobody waits for it any more. */
const TURN_BACK_MS = 30_000

/** Asks for something, and waits until it is done. What was made of it is answered, or its Task. */
export async function carryOut(
  calling: Calling,
  method: 'POST' | 'PUT' | 'DELETE',
  href: string,
  body?: Element,
): Promise<Element | undefined> {
  const { world, cloud, key } = calling
  world.signal?.throwIfAborted()
  // Without the signal: whether it was accepted must be known, or it could not be turned back.
  const said = await cloud.act(method, href, { key, ...(body && { body }) })
  const task = said && taskIn(said)
  if (!task) return said
  try {
    await waitTask(cloud, task, world)
  } catch (error) {
    if (world.signal?.aborted === true && world.isCanceled?.() === true) {
      await turnBack(calling, task)
    }
    throw error
  }
  return said
}

/** Whatever comes of it: the run ends as canceled, and the cloud ends the task in its time. */
async function turnBack({ cloud, world }: Calling, task: Element): Promise<void> {
  const { now, pause } = world
  try {
    await cancelTask(cloud, attribute(task, 'href') ?? '')
    await waitTask(cloud, task, { now, pause, withinMs: TURN_BACK_MS })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
}
