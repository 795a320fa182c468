import { Fault, faultKinds, httpStatus, type FaultBody, type FaultKind } from '@skerry/fault'
import { powerStates, whyNotId, type Order, type TaskId, type VmId } from '@skerry/vm'
import { Type, type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

import { goals, type Goal } from './goals.ts'

/** How both ends write what they say to each other. Longer than this, and a step is asked for again. */
export const ANSWER_WITHIN_MS = 20_000
export const BODY_BYTES_MAX = 64 * 1024
/** No screen that QEMU draws is more, as PNG. */
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
      number: Count,
      incarnation: Count,
      from: Type.Optional(Type.Array(Type.Enum([...powerStates]))),
      goal: Type.Union(Object.values(goals).map(({ shape }) => shape)),
    },
    closed,
  ),
)
const Ping = Compile(Type.Object({ session: Count, number: Count }, closed))
const Arm = Compile(
  Type.Object({ boot: Word, ticketHash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }, closed),
)
const Session = Compile(Count)
const Boot = Compile(Word)

/** What vmd answers to a step that is not done yet. */
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
  throw new Fault('invalid', `this is no ${what}`)
}

export function readVmId(text: string): VmId {
  const why = whyNotId(text)
  if (why === undefined) return text as VmId
  throw new Fault('invalid', `this is no VM: ${why}`)
}

export function readStep(vm: VmId, key: string, body: unknown): { order: Order; goal: Goal } {
  if (key === '' || key.length > 200) throw new Fault('invalid', 'this is no key of a step')
  const { goal, task, number, incarnation, from } = read(Step, body, 'step') as {
    goal: Goal
    task: TaskId
  } & Pick<Order, 'number' | 'incarnation' | 'from'>
  return { order: { vm, key, task, number, incarnation, ...(from && { from }) }, goal }
}

export const readPing = (body: unknown) =>
  read(Ping, body, 'ping') as { session: string; number: string }
export const readArm = (body: unknown) =>
  read(Arm, body, 'screen to arm') as { boot: string; ticketHash: string }
export const readBoot = (text: string | null): string => read(Boot, text, 'boot') as string
export const readSession = (text: string | null): string => read(Session, text, 'session') as string

/** All that a host ever answers. Only `unavailable` is worth another try. */
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

/** Any failure as one of the closed list; what is not a fault of ours keeps its words to itself. */
export function faultAnswer(error: unknown): { status: number; body: FaultBody } {
  const fault =
    error instanceof Fault ? error : new Fault('unavailable', 'the host could not do it now')
  const kind =
    hostFaults.find((each) => each === fault.kind) ?? others[fault.kind] ?? ('unavailable' as const)
  const { message, detail } = fault
  return {
    status: httpStatus[kind],
    body: { error: kind, message, ...(detail !== undefined && { detail }) },
  }
}

/** What the other side threw, word for word. */
export function reviveFault(text: string): Fault {
  try {
    const { error, message, detail } = JSON.parse(text) as Partial<FaultBody>
    const kind = faultKinds.find((each) => each === error)
    if (kind && typeof message === 'string') {
      return new Fault(kind, message, typeof detail === 'string' ? { detail } : {})
    }
  } catch {
    // What is no JSON is none of ours either.
  }
  return new Fault('unavailable', 'the host gave an answer that is not ours', { cause: text })
}
