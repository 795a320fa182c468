/** Exit codes for scripts; documented in docs/tutorials/first-vm.md and printed by `skerry help`. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  timedOut: 4,
} as const

export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  refused: 'failed, or rejected by vmd or a cloud',
  usage: 'invalid usage',
  unreachable: 'vmd or cloud unreachable',
  timedOut: 'timed out, and the operation may still complete',
}
export type FailureReason = Exclude<keyof typeof exitCodes, 'done'>

/** Ends a command: the message says what failed, the hint what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly reason: FailureReason
  readonly hint: string | undefined
  /** The server's own response, for --json. */
  readonly body: unknown

  constructor(
    reason: FailureReason,
    message: string,
    more: { hint?: string | undefined; body?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.reason = reason
    this.hint = more.hint
    this.body = more.body
  }
}
