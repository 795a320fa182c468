// A route of the simulated cell: its path is a regular expression whose groups are its parameters.
import type { IncomingMessage, ServerResponse } from 'node:http'

import type { SimulatedCaller } from './callers.ts'
import type { SimulatedConsole } from './console.ts'
import { numberOf } from './inventory.ts'
import { sendError, sendJson } from './send.ts'
import type { TaskQueue } from './tasks.ts'

export interface SimulatedRequest {
  readonly queue: TaskQueue
  readonly screens: SimulatedConsole
  readonly caller: SimulatedCaller
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  /** The groups of the path. */
  readonly groups: readonly string[]
}

export interface SimulatedRow {
  readonly method: string
  readonly path: RegExp
  readonly handle: (request: SimulatedRequest) => Promise<void> | void
}

const UUID = '([0-9a-f-]{36})'
export const row = (
  method: string,
  path: string,
  handle: SimulatedRow['handle'],
): SimulatedRow => ({
  method,
  path: new RegExp(`^/api/${path.replaceAll('UUID', UUID)}$`),
  handle,
})

/** The number of the first object in the path. */
export const first = ({ groups }: SimulatedRequest): number => numberOf(groups[0] ?? '')

/** Answers 404 where there is no document. */
export const answer = ({ response }: SimulatedRequest, document: unknown, status = 200): void =>
  document === undefined
    ? sendError(response, 404, 'NOT_FOUND', 'it does not exist, or belongs to another organisation')
    : sendJson(response, status, document)

export const noContent = ({ response }: SimulatedRequest): void => sendJson(response, 204)
