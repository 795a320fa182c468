// A stand-in for a cell of the cloud: it serves the built page and answers the API in JSON from memory, with 1,000,000 invented VMs.
// The browser tests run against it until a real cell serves the page and answers in JSON; then they move to that cell.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { loadPageFiles, pageHeaders, pageResponse, type PageFiles } from '@skerry/service'

import { sessionDocument } from './administration.ts'
import { COOKIE, may, Sessions } from './callers.ts'
import { startSimulatedConsole, type SimulatedConsole } from './console.ts'
import { KIND, uuidOf } from './inventory.ts'
import { ForbiddenQuery } from './query-route.ts'
import { InvalidQuery } from './query.ts'
import { rows } from './routes.ts'
import { isLimited, proofOf } from './second-factors.ts'
import { sendError, sendJson } from './send.ts'
import { TaskQueue } from './tasks.ts'
import { SimulatedWorkflows } from './workflows.ts'

const HEARTBEAT_MS = 15_000

export interface SimulatedCell extends AsyncDisposable {
  readonly url: string
  readonly console: SimulatedConsole
  /** The number of open event streams. */
  readonly streams: number
  /** Ends all sessions, as if they had expired. */
  endSessions(): void
  /** How much faster tasks are than in a real cloud; also those that are running. */
  setSpeed(speed: number): void
  /** Breaks all event streams. */
  endStreams(): void
  /** Breaks all event streams, and refuses new requests until it is called with false. */
  setDown(isDown: boolean): void
}

export interface SimulatedCellOptions {
  readonly port?: number
  /** How much faster tasks are than in a real cloud. */
  readonly speed?: number
}

class Cell {
  readonly sessions = new Sessions()
  readonly queue: TaskQueue
  readonly workflows = new SimulatedWorkflows()
  readonly streams = new Set<ServerResponse>()
  readonly files: PageFiles
  readonly console: SimulatedConsole
  isDown = false

  constructor(speed: number, files: PageFiles, screens: SimulatedConsole) {
    this.files = files
    this.console = screens
    this.queue = new TaskQueue(speed)
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isDown) return void response.destroy()
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
    const { pathname } = url
    if (pathname === '/') return void response.writeHead(302, { location: '/ui/' }).end()
    if (pathname === '/ui/config.json') return this.sendConfig(request, response)
    if (pathname.startsWith('/ui')) return this.sendFile(request, response, pathname)
    if (pathname === '/api/sessions') return this.logIn(request, response)
    const caller = this.sessions.callerOf(request)
    if (!caller)
      return sendError(response, 401, 'UNAUTHENTICATED', 'the token is missing or expired; log in')
    if (isLimited(caller) && !/^\/api\/session(?:\/secondFactors.*)?$/.test(pathname)) {
      return sendError(response, 403, 'FORBIDDEN', 'the organisation requires a second factor')
    }
    if (pathname === '/api/events') {
      if (may(caller, 'vm:read')) return this.follow(request, response, url)
      return sendError(response, 403, 'FORBIDDEN', 'your role lacks the right vm:read')
    }
    if (pathname === '/api/session' && request.method === 'DELETE')
      return this.logOut(request, response)
    if (pathname.startsWith('/api/workflow/')) {
      if (await this.workflows.handle(url, request, response)) return
    }
    for (const { method, path, handle } of rows) {
      const found = method === request.method ? path.exec(pathname) : null
      if (!found) continue
      const groups = found.slice(1)
      await handle({
        queue: this.queue,
        screens: this.console,
        caller,
        request,
        response,
        url,
        groups,
      })
      return
    }
    sendError(response, 404, 'NOT_FOUND', 'there is nothing at this address')
  }

  sendFile({ headers }: IncomingMessage, response: ServerResponse, path: string): void {
    const always = pageHeaders([this.console.origin])
    const found = pageResponse(this.files, path.replace(/^\/ui\/?/, ''), headers, always)
    if (!found) return void response.writeHead(404).end()
    response.writeHead(found.status, found.headers).end(found.body)
  }

  sendConfig(request: IncomingMessage, response: ServerResponse): void {
    const caller = this.sessions.callerOf(request)
    sendJson(response, 200, {
      kind: 'cloud',
      name: 'cloud.example',
      version: '0.1.0',
      console: new URL(this.console.origin).host,
      workflows: true,
      passkeys: true,
      ...(caller && { session: sessionDocument(caller, isLimited(caller)) }),
    })
  }

  logIn(request: IncomingMessage, response: ServerResponse): void {
    const made = this.sessions.logIn(request.headers.authorization)
    if (!made)
      return sendError(response, 401, 'UNAUTHENTICATED', 'the user or the password is wrong')
    const proof = proofOf(made.caller, request)
    if (proof === 'missing')
      return sendError(response, 401, 'SECOND_FACTOR', 'this account has a second factor')
    if (proof === 'wrong')
      return sendError(response, 401, 'UNAUTHENTICATED', 'the user or the password is wrong')
    const cookie = `${COOKIE}=${made.token}; Path=/; HttpOnly; SameSite=Strict`
    sendJson(response, 200, sessionDocument(made.caller, isLimited(made.caller)), {
      'set-cookie': cookie,
    })
  }

  logOut(request: IncomingMessage, response: ServerResponse): void {
    this.sessions.end(request)
    const cookie = `${COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`
    sendJson(response, 204, undefined, { 'set-cookie': cookie })
  }

  follow(request: IncomingMessage, response: ServerResponse, { searchParams }: URL): void {
    const since = request.headers['last-event-id']
    let last = Number((typeof since === 'string' ? since : this.queue.lastId).split('-')[0])
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    })
    response.write(`id: ${last}-1\nretry: 1000\n\n`)
    const send = (): void => {
      for (const { id, event, data } of this.queue.events) {
        const number = Number(id.split('-')[0])
        if (number <= last) continue
        last = number
        response.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      }
    }
    send()
    const stop = this.queue.listen(send)
    const stopProgress =
      searchParams.get('progress') === 'true' &&
      this.queue.listenToProgress(({ id, vm, progress }) => {
        const data = JSON.stringify({ vm: uuidOf(KIND.vm, vm), task: id, progress })
        response.write(`event: progress\ndata: ${data}\n\n`)
      })
    const heartbeat = setInterval(() => response.write(':\n\n'), HEARTBEAT_MS)
    this.streams.add(response)
    response.on('close', () => {
      stop()
      if (stopProgress) stopProgress()
      clearInterval(heartbeat)
      this.streams.delete(response)
    })
  }
}

function onError(error: unknown, response: ServerResponse): void {
  if (response.headersSent) return
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof InvalidQuery) return sendError(response, 400, 'INVALID', message)
  if (error instanceof ForbiddenQuery) return sendError(response, 403, 'FORBIDDEN', message)
  sendError(response, 500, 'INTERNAL', message)
}

export async function startSimulatedCell({
  port = 0,
  speed = 1,
}: SimulatedCellOptions = {}): Promise<SimulatedCell> {
  const files = await loadPageFiles(join(import.meta.dirname, '../../../apps/web/dist'))
  if (!files) throw new Error('apps/web/dist is missing; run npm run build:web')
  const server = createServer((request, response) => {
    cell.handle(request, response).catch((error: unknown) => onError(error, response))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const screens = await startSimulatedConsole([url])
  const cell = new Cell(speed, files, screens)
  return {
    url,
    console: screens,
    get streams() {
      return cell.streams.size
    },
    endSessions() {
      cell.sessions.endAll()
      for (const stream of cell.streams) stream.destroy()
    },
    setSpeed(speed) {
      cell.queue.speed = speed
    },
    endStreams() {
      for (const stream of cell.streams) stream.destroy()
    },
    setDown(isDown) {
      cell.isDown = isDown
      if (isDown) server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      cell.queue.stop()
      await screens[Symbol.asyncDispose]()
      cell.workflows.stop()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
