import { Fault, faultKinds, type FaultBody, type FaultKind } from '@skerry/fault'
import { Compile, type Static, type TSchema, Type } from '@skerry/schema'
import {
  nicMtu,
  powerStates,
  usageWindowOf,
  UUID,
  whyNotId,
  whyNotNics,
  type Order,
  type OverlayJoin,
  type TaskId,
  type UsageWindow,
  type VmId,
} from '@skerry/vm'

import { goals, type Goal } from './goals.ts'

/** Limits of the protocol between cells and hosts. A step that takes longer than this is requested again. */
export const ANSWER_WITHIN_MS = 20_000
export const BODY_BYTES_MAX = 64 * 1024
/** No PNG of a QEMU screen is larger. */
export const PICTURE_BYTES_MAX = 8 * 1024 * 1024
export const TICKET_HEADER = 'skerry-ticket'
export const DISPLAY_PROTOCOL = 'skerry-display'

const closed = { additionalProperties: false }
const Count = Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$' })
const Word = Type.String({ minLength: 1, maxLength: 200 })

const Step = Compile(
  Type.Object(
    {
      task: Word,
      fencingToken: Count,
      incarnation: Count,
      from: Type.Optional(Type.Array(Type.Enum([...powerStates]))),
      goal: Type.Union(Object.values(goals).map(({ shape }) => shape)),
    },
    closed,
  ),
)
const Ping = Compile(Type.Object({ session: Count, fencingToken: Count }, closed))
const Arm = Compile(
  Type.Object({ boot: Word, ticketHash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }, closed),
)
const Address = Type.Union([Type.String({ format: 'ipv4' }), Type.String({ format: 'ipv6' })])
const Overlay = Compile(
  Type.Object(
    {
      fencingToken: Count,
      // Only with TLS: the server at this address decides which packets of all guests pass.
      remote: Type.String({ pattern: '^ssl:([0-9.]{7,15}|\\[[0-9a-f:.]{2,45}\\]):[0-9]{1,5}$' }),
      systemId: Type.String({ pattern: `^${UUID}$` }),
      tunnelAddress: Address,
      mtu: Type.Integer({ minimum: nicMtu.min, maximum: nicMtu.max }),
    },
    closed,
  ),
)
const Session = Compile(Count)
const Boot = Compile(Word)

/** The response of vmd to an unfinished step. */
export interface StillRunning {
  readonly running: true
  readonly progress: number
}

function read<Shape extends TSchema>(
  shape: { Check(value: unknown): value is Static<Shape> },
  value: unknown,
  what: string,
): Static<Shape> {
  if (shape.Check(value)) return value
  throw new Fault('invalid', `invalid ${what}`)
}

export function readVmId(text: string): VmId {
  const why = whyNotId(text)
  if (why === undefined) return text as VmId
  throw new Fault('invalid', `invalid VM id: ${why}`)
}

export function readStep(vm: VmId, key: string, body: unknown): { order: Order; goal: Goal } {
  if (key === '' || key.length > 200) throw new Fault('invalid', 'invalid step key')
  const { goal, task, fencingToken, incarnation, from } = read(Step, body, 'step') as {
    goal: Goal
    task: TaskId
  } & Pick<Order, 'fencingToken' | 'incarnation' | 'from'>
  const why = 'spec' in goal && goal.spec.nics ? whyNotNics(goal.spec.nics) : undefined
  if (why !== undefined) throw new Fault('invalid', `invalid step: ${why}`)
  return { order: { vm, key, task, fencingToken, incarnation, ...(from && { from }) }, goal }
}

export const readPing = (body: unknown) =>
  read(Ping, body, 'ping') as { session: string; fencingToken: string }
export const readArm = (body: unknown) =>
  read(Arm, body, 'arm request') as { boot: string; ticketHash: string }
export const readOverlay = (body: unknown) => read(Overlay, body, 'overlay') as OverlayJoin
export const readBoot = (text: string | null): string => read(Boot, text, 'boot') as string
export const readSession = (text: string | null): string => read(Session, text, 'session') as string

export function readWindow(query: URLSearchParams): UsageWindow {
  const window = usageWindowOf(query.get('step') ?? undefined, query.get('points') ?? undefined)
  if (typeof window === 'string') throw new Fault('invalid', window)
  return window
}

/** All fault kinds in responses of a host. Only `unavailable` is retryable. */
export const hostFaults = [
  'invalid',
  'forbidden',
  'stale',
  'other-incarnation',
  'gone',
  'wrong-state',
  'no-room',
  'image-refused',
  'interrupted',
  'canceled',
  'unavailable',
] as const satisfies readonly FaultKind[]

const others: Readonly<Partial<Record<FaultKind, (typeof hostFaults)[number]>>> = {
  'not-found': 'gone',
  conflict: 'wrong-state',
  unauthenticated: 'forbidden',
  'not-acceptable': 'invalid',
}

/** Maps any error to one of this closed list; the message of an unexpected error is not sent. */
export function toHostFault(error: unknown): Fault {
  const fault =
    error instanceof Fault
      ? error
      : new Fault('unavailable', 'the host failed to process the request')
  const kind =
    hostFaults.find((each) => each === fault.kind) ?? others[fault.kind] ?? ('unavailable' as const)
  const { message, detail } = fault
  return new Fault(kind, message, { cause: error, ...(detail !== undefined && { detail }) })
}

/** Rebuilds the fault that the peer threw, with the same message. */
export function reviveFault(text: string): Fault {
  try {
    const { error, message, detail } = JSON.parse(text) as Partial<FaultBody>
    const kind = faultKinds.find((each) => each === error)
    if (kind && typeof message === 'string') {
      return new Fault(kind, message, typeof detail === 'string' ? { detail } : {})
    }
  } catch {
    // Not JSON, so not a response of our protocol.
  }
  return new Fault('unavailable', 'unexpected response from the host', { cause: text })
}
