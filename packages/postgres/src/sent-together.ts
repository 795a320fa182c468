import type { Socket } from 'node:net'

import type { PoolClient } from 'pg'

/** Statements that are sent here leave in one write, which costs as much as one of them. The pool must be a pipelined one. */
export function inOneWrite<T>(client: PoolClient, send: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}

/** Waits for statements that were sent together. They also fail together: no promise is left unhandled, and the first failure counts. */
export async function sentTogether(sent: readonly Promise<unknown>[]): Promise<void> {
  for (const each of await Promise.allSettled(sent)) {
    if (each.status === 'rejected') throw each.reason
  }
}
