/** Why something was not done: one word per reason that a program would act on differently. */
export const faultKinds = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not-found',
  'not-acceptable',
  'conflict',
  'too-many',
  'unavailable',
  'timed-out',
  // Between our own processes: refused by a host.
  'stale',
  'other-incarnation',
  'gone',
  'wrong-state',
  'no-room',
  'image-refused',
  'interrupted',
  'canceled',
] as const
export type FaultKind = (typeof faultKinds)[number]

/** The message is for the caller and says what was expected; `cause` is for the log only. */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly kind: FaultKind
  /** What to do next, when we know it. */
  readonly hint: string | undefined
  /** The state that stood in the way, where that is the reason; the edge has its own word for it. */
  readonly state: string | undefined

  /** What a program needs to go on: the highest number, the incarnation or the state there is. */
  readonly detail: string | undefined

  constructor(kind: FaultKind, message: string, more: More = {}) {
    super(message, { cause: more.cause })
    this.kind = kind
    this.hint = more.hint
    this.state = more.state
    this.detail = more.detail
  }
}

interface More {
  readonly cause?: unknown
  readonly hint?: string
  readonly state?: string
  readonly detail?: string
}

/** How a fault travels between our own processes. */
export interface FaultBody {
  readonly error: FaultKind
  readonly message: string
  readonly detail?: string
}

/** Repeating may help with these and with no other. */
export const passing: ReadonlySet<FaultKind> = new Set(['unavailable', 'timed-out', 'too-many'])
