import { Failure } from '../terminal/failure.ts'

/** JSON if it is JSON, otherwise text; undefined if it is empty. */
export function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** 408 and 504: the operation may still complete, which differs from a rejection for a script. */
const timedOut: ReadonlySet<number> = new Set([408, 504])

/** A Failure with the server's own message, if it sent one. */
export function refusal(server: string, status: number, body: unknown): Failure {
  const { message, hint } = (typeof body === 'object' && body !== null ? body : {}) as {
    message?: unknown
    hint?: unknown
  }
  const reason = timedOut.has(status) ? 'timedOut' : 'refused'
  return new Failure(
    reason,
    typeof message === 'string' ? message : `${server} returned ${status} without a message`,
    { body, hint: typeof hint === 'string' ? hint : undefined },
  )
}
