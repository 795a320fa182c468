/** The database refused a request. Nothing of it was done. */
export class Refused extends Error {
  override readonly name = 'Refused'
  /** The short name of the error, such as 'constraint violation'. */
  readonly error: string
  readonly details: string
  /**
   * The index of the refused operation. The number of operations: each of them was possible, but not their result. -1: the request as
   * a whole, such as one for an unknown database.
   */
  readonly at: number

  constructor(error: string, details: string, at: number) {
    super(details === '' ? error : `${error}: ${details}`)
    this.error = error
    this.details = details
    this.at = at
  }
}

/**
 * The connection could not be opened, or is lost: closed by either side, silent for too long, or in an invalid state. The outcome
 * of a pending transaction is unknown; `cause` is the reason, if there is one.
 */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** An error as the server writes it: an object, or a text in answers of old servers. */
export function readRefusal(error: unknown, at: number): Refused {
  if (typeof error !== 'object' || error === null) return new Refused(String(error), '', at)
  const { error: name, details } = error as { readonly error?: unknown; readonly details?: unknown }
  return new Refused(textOf(name) ?? 'error', textOf(details) ?? '', at)
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
