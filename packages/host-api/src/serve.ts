import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { Duplex } from 'node:stream'

import { Fault, faultBody, httpStatus } from '@skerry/fault'
import {
  createSecureListener,
  decoded,
  listenerBounds,
  rawResponse,
  readJson,
  sendJson,
  serveJson,
  urlOf,
} from '@skerry/service'
import type { Report, VmId } from '@skerry/vm'

import { admitPeers, type Admit, type Epochs } from './admit.ts'
import type { HostApi } from './host-api.ts'
import type { MachineRole } from './machine-name.ts'
import { SILENCE_MS } from './sessions.ts'
import * as wire from './wire.ts'

export interface ServeOptions {
  readonly admit: Admit
  readonly log?: (message: string, cause?: unknown) => void
  /** After this time, an unfinished step is answered with its progress. */
  readonly answerWithinMs?: number
}

interface Call {
  readonly host: HostApi
  readonly vm: VmId
  readonly key: string
  readonly query: URLSearchParams
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly options: ServeOptions
}

interface Row {
  readonly method: string
  readonly path: RegExp
  readonly roles: readonly MachineRole[]
  handle(call: Call): Promise<void>
}

const CELLS = ['cell'] as const
const VM = '/host/v1/vms/(?<vm>[^/]+)'
const row = (method: string, path: string, handle: Row['handle']): Row => ({
  method,
  path: new RegExp(`^${path}$`),
  roles: CELLS,
  handle,
})

/** Every route of a host. All are for cells; a screen is also for consoles. */
const rows: readonly Row[] = [
  row('POST', `${VM}/steps/(?<key>[^/]+)`, step),
  row('DELETE', `${VM}/steps/(?<key>[^/]+)`, async ({ host, vm, key, response }) => {
    await host.stop(vm, key)
    response.writeHead(204).end()
  }),
  row('GET', '/host/v1/changes', async (call) => {
    const session = wire.readSession(call.query.get('session'))
    await sendLines(call, (signal) => call.host.follow(session, signal))
  }),
  row('POST', '/host/v1/changes/ping', async ({ host, request, response }) => {
    const { session, fencingToken } = wire.readPing(await readJson(request, wire.BODY_BYTES_MAX))
    sendJson(response, 200, await host.ping(session, fencingToken))
  }),
  row('GET', '/host/v1/records', async (call) => {
    await sendLines(call, (signal) => call.host.records(signal))
  }),
  row('POST', `${VM}/display/arm`, async ({ host, vm, request, response }) => {
    await host.arm({ vm, ...wire.readArm(await readJson(request, wire.BODY_BYTES_MAX)) })
    response.writeHead(204).end()
  }),
  row('GET', `${VM}/display/picture`, async ({ host, vm, query, response }) => {
    const picture = await host.takeScreenshot(vm, wire.readBoot(query.get('boot')))
    if (picture.length > wire.PICTURE_BYTES_MAX) {
      throw new Fault('unavailable', `the screenshot of VM ${vm} is too large`)
    }
    const headers = { 'content-type': 'image/png', 'content-length': picture.length }
    response.writeHead(200, headers).end(picture)
  }),
  row('GET', `${VM}/usage`, async ({ host, vm, query, response }) => {
    sendJson(response, 200, await host.readUsage(vm, wire.readWindow(query)))
  }),
  row('PUT', '/host/v1/overlay', async ({ host, request, response }) => {
    await host.joinOverlay(wire.readOverlay(await readJson(request, wire.BODY_BYTES_MAX)))
    response.writeHead(204).end()
  }),
]
const display = new RegExp(`^${VM}/display$`)

/** A listener for any HostApi: vmd passes the real one, the lab a simulated one. */
export function hostServer(
  tls: { readonly key: string; readonly cert: string; readonly ca: string | readonly string[] },
  host: HostApi,
  rules: { readonly cloud: string; readonly epochs: Epochs; readonly log?: ServeOptions['log'] },
): SecureServer {
  const { key, cert, ca } = tls
  const server = createSecureListener(
    { bounds: listenerBounds.host },
    {
      key,
      cert,
      ca: typeof ca === 'string' ? ca : [...ca],
      minVersion: 'TLSv1.3',
      requestCert: true,
      rejectUnauthorized: true,
    },
  )
  serveHost(server, host, { admit: admitPeers(rules), ...(rules.log && { log: rules.log }) })
  return server
}

export function serveHost(server: Pick<Server, 'on'>, host: HostApi, options: ServeOptions): void {
  serveJson(
    server,
    (request, response) => answer(host, options, request, response),
    (error, { method, url }) => {
      if (isWorthALine(error)) options.log?.(`${method} ${url}`, error)
      return wire.toHostFault(error)
    },
  )
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined)
    openScreen(host, options, request, socket, head).catch((error: unknown) => {
      options.log?.(`upgrade ${request.url}`, error)
      const fault = wire.toHostFault(error)
      const headers = { 'content-type': 'application/json' }
      socket.end(rawResponse(httpStatus[fault.kind], headers, JSON.stringify(faultBody(fault))))
    })
  })
}

async function answer(
  host: HostApi,
  options: ServeOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = urlOf(request)
  const found = rows.find(({ method, path }) => method === request.method && path.test(pathname))
  // A machine without access does not learn which paths exist.
  await options.admit(request.socket, found?.roles ?? CELLS)
  if (!found) throw new Fault('invalid', 'unknown path')
  const { vm, key = '' } = found.path.exec(pathname)?.groups ?? {}
  await found.handle({
    host,
    options,
    request,
    response,
    query: searchParams,
    // Routes without a VM in the path do not use it.
    vm: vm === undefined ? ('' as VmId) : wire.readVmId(decoded(vm)),
    key: decoded(key),
  })
}

async function step({ host, vm, key, request, response, options }: Call): Promise<void> {
  const { order, goal } = wire.readStep(vm, key, await readJson(request, wire.BODY_BYTES_MAX))
  let progress = 0
  const done = host.step(order, goal, undefined, (percent) => (progress = percent))
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(
    () => late.resolve(undefined),
    options.answerWithinMs ?? wire.ANSWER_WITHIN_MS,
  )
  // After the answer "running" no one awaits the step; a repeated request joins it.
  done.catch(() => undefined)
  try {
    const report: Report | undefined = await Promise.race([done, late.promise])
    if (report) sendJson(response, 200, report)
    else sendJson(response, 202, { running: true, progress } satisfies wire.StillRunning)
  } finally {
    clearTimeout(timer)
  }
}

/** Sends one JSON text per line, as fast as they are read; a stalled reader is disconnected. */
async function sendLines(
  { response }: Call,
  source: (signal: AbortSignal) => AsyncIterable<unknown>,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  response.socket?.setNoDelay(true)
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
  response.flushHeaders()
  for await (const line of source(gone.signal)) {
    if (gone.signal.aborted) return
    if (response.write(`${JSON.stringify(line)}\n`)) continue
    if (!(await drained(response))) return void response.destroy()
  }
  response.end()
}

async function drained(response: ServerResponse): Promise<boolean> {
  const end = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => end.resolve(false), SILENCE_MS)
  const onDrain = () => end.resolve(true)
  const onClose = () => end.resolve(false)
  response.once('drain', onDrain).once('close', onClose)
  try {
    return await end.promise
  } finally {
    clearTimeout(timer)
    response.off('drain', onDrain).off('close', onClose)
  }
}

async function openScreen(
  host: HostApi,
  { admit }: ServeOptions,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  await admit(socket, ['cell', 'console'])
  const vm = display.exec(urlOf(request).pathname)?.groups?.['vm']
  const ticket = request.headers[wire.TICKET_HEADER]
  const isOurs = request.headers.upgrade === wire.DISPLAY_PROTOCOL
  if (vm === undefined || typeof ticket !== 'string' || !isOurs) {
    throw new Fault('invalid', 'not a display upgrade request')
  }
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  const screen = await host.open(wire.readVmId(decoded(vm)), ticket, gone.signal)
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${wire.DISPLAY_PROTOCOL}\r\n\r\n`,
  )
  if (head.length > 0) socket.unshift(head)
  // Either end closes both; the kind of error makes no difference to a viewer.
  screen.on('error', () => undefined)
  socket.once('close', () => screen.destroy())
  screen.once('close', () => socket.destroy())
  socket.pipe(screen).pipe(socket)
}

/** A stale order is normal; an unauthorised peer, or a failure of the host, is logged. */
const isWorthALine = (error: unknown): boolean =>
  !(error instanceof Fault) || ['forbidden', 'unavailable', 'timed-out'].includes(error.kind)
