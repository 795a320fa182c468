/** What a script can tell apart; written down in docs/tasks/first-vm.md and printed by `skerry help`. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  timedOut: 4,
} as const

export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  refused: 'refused by vmd, by a cloud, or by this machine',
  usage: 'wrong usage',
  unreachable: 'vmd not reachable, or the cloud not',
  timedOut: 'timed out, and the work may still be done',
}
export type Reason = Exclude<keyof typeof exitCodes, 'done'>

/** Ends a command: the message says what is the matter, the hint what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly reason: Reason
  readonly hint: string | undefined
  /** The daemon's own answer, for --json. */
  readonly body: unknown

  constructor(
    reason: Reason,
    message: string,
    more: { hint?: string | undefined; body?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.reason = reason
    this.hint = more.hint
    this.body = more.body
  }
}
