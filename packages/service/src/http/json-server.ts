// The parts of a server without routes of `mount`: JSON in, JSON out, between our own programs or for a monitor.
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'

import { Fault, faultBody, httpStatus } from '@skerry/fault'

import { parseJson } from './body.ts'
import { readBytes } from './read-bytes.ts'

/** Answers every request; `toFault` translates an error for the caller, and logs it if that is worth a line. */
export function serveJson(
  server: Pick<Server, 'on'>,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  toFault: (error: unknown, request: IncomingMessage) => Fault,
): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch((error: unknown) => {
      const fault = toFault(error, request)
      if (response.headersSent) response.destroy()
      else sendJson(response, httpStatus[fault.kind], faultBody(fault))
    })
  })
}

/** Faults reach the caller as they are; any other error is logged, and the caller gets only these words. */
export const internalFault =
  (words: string, log: (message: string, cause: unknown) => void) =>
  (error: unknown, { method, url }: IncomingMessage): Fault => {
    if (error instanceof Fault) return error
    log(`${method} ${pathOf(url)} failed`, error)
    return new Fault('unavailable', words)
  }

export async function readJson(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const tooLarge = () => new Fault('invalid', 'the body is too large')
  return parseJson((await readBytes(request, bytesMax, tooLarge)).toString('utf8'))
}

/** JSON for one of our programs. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    .end(text)
}

/** JSON for a monitor, a balancer or curl: a whole line, never cached. */
export function sendJsonLine(response: ServerResponse, status: number, body: object): void {
  sendText(response, status, 'application/json; charset=utf-8', `${JSON.stringify(body)}\n`)
}

/** Node.js leaves the text out of a response to HEAD. */
export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
): void {
  response
    .writeHead(status, {
      'content-type': type,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-length': Buffer.byteLength(text),
    })
    .end(text)
}

/** Rejects a method other than GET and HEAD, and returns whether it did. The connection ends, so that no body is read. */
export function refuseWrite({ method }: IncomingMessage, response: ServerResponse): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  response.setHeader('allow', 'GET, HEAD').setHeader('connection', 'close')
  sendJsonLine(response, 405, { error: 'invalid', message: 'expected GET' })
  return true
}

/** The path as it was sent, without the query. */
export const pathOf = (url = ''): string => url.split('?')[0] ?? ''

/** The address of a request; its host is not the caller's. */
export function urlOf({ url = '' }: IncomingMessage): URL {
  const parsed = URL.parse(url, 'https://server')
  if (parsed) return parsed
  throw new Fault('invalid', 'malformed URL')
}

/** A part of a path. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw new Fault('invalid', 'malformed URL', { cause })
  }
}

/** Stops listening and ends every connection. */
export async function closeListener(server: Server | SecureServer): Promise<void> {
  const closed = server.listening ? once(server, 'close') : undefined
  if (server.listening) server.close()
  // Also those of a server that stopped listening earlier.
  server.closeAllConnections()
  await closed
}
