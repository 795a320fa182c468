/** Kinds of failure: one for each reason that a program would handle differently. */
export const faultKinds = [
  'invalid',
  'unauthenticated',
  // The password is right, and the code of the second factor is missing.
  'second-factor',
  'forbidden',
  'not-found',
  'not-acceptable',
  'conflict',
  'too-many',
  'unavailable',
  'timed-out',
  // Between our own processes: rejected by a host.
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
  /** What to do next, if known. */
  readonly hint: string | undefined
  /** The state that prevented the operation, if that is the reason; the edge translates it. */
  readonly state: string | undefined

  /** What a program needs to continue: the highest fencing token, the incarnation or the current state. */
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

/** The wire format of a fault between our own processes. */
export interface FaultBody {
  readonly error: FaultKind
  readonly message: string
  readonly detail?: string
}

export const faultBody = ({ kind, message, detail }: Fault): FaultBody => ({
  error: kind,
  message,
  ...(detail !== undefined && { detail }),
})

/** The retryable kinds. */
export const retryableKinds: ReadonlySet<FaultKind> = new Set([
  'unavailable',
  'timed-out',
  'too-many',
])
