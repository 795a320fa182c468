import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http'
import {
  createServer as createSecureServer,
  type Server as SecureServer,
  type ServerOptions as SecureOptions,
} from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'

import { UPLOAD_IDLE_MS, type ListenerBounds } from './listener-bounds.ts'
import { networkOf } from './network-of.ts'

export interface ListenerOptions {
  readonly bounds: ListenerBounds
  /** Addresses that many clients share, such as a balancer's: the limit per network does not apply to them. */
  readonly sharedAddresses?: readonly string[] | undefined
}

/** How often Node.js checks for late request heads. */
const LOOK_MS = 1000

/** Long enough for a client to send the rest of a body and to read the error. */
const REFUSED_MS = 5000

/** A connection that has not authenticated yet; `network` if the limit per network applies. */
interface Unauthenticated {
  readonly socket: Socket
  readonly network: string | undefined
}

const admitted = new WeakMap<Duplex, () => void>()
const bodyTimers = new WeakMap<IncomingMessage, NodeJS.Timeout>()

/** The only way to create an HTTP server: with these limits. */
export function createListener(options: ListenerOptions, http: ServerOptions = {}): Server {
  return bound(createServer({ ...http, ...nodeOptions(options) }), options)
}

/** The same over TLS. A trusted client certificate counts as authentication. */
export function createSecureListener(options: ListenerOptions, https: SecureOptions): SecureServer {
  const { handshakeMs: handshakeTimeout } = options.bounds
  const own = { ...https, ...nodeOptions(options), handshakeTimeout }
  const server = bound(createSecureServer(own), options)
  // Before all other listeners: without a handshake nothing can be written, so a response would wait for ever.
  server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

/** The client of this connection has authenticated: it no longer counts against the limit. */
export function markAuthenticated(socket: Duplex): void {
  admitted.get(socket)?.()
}

/** The body of this request is streamed: it may take long, as long as data arrives. */
export function boundIdleOnly(request: IncomingMessage): void {
  clearTimeout(bodyTimers.get(request))
  const { socket } = request
  socket.setTimeout(UPLOAD_IDLE_MS)
  // After a response that did not wait for the body, the socket has Node's keep-alive timeout already.
  const over = () => {
    if (socket.timeout === UPLOAD_IDLE_MS) socket.setTimeout(0)
  }
  request.once('end', over).once('close', over)
}

/** This request was rejected: the rest of its body is discarded, for a short time. */
export function endRefused(request: IncomingMessage): void {
  if (request.complete || !hasBody(request)) return
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy()
  }, REFUSED_MS).unref()
  request.once('close', () => clearTimeout(timer))
}

const nodeOptions = ({ bounds }: ListenerOptions): ServerOptions => ({
  headersTimeout: bounds.headMs,
  keepAliveTimeout: bounds.keepAliveMs,
  // Node.js has no exceptions per route: if there are some, boundBody limits the bodies.
  requestTimeout: bounds.streams === true ? 0 : bounds.bodyMs,
  connectionsCheckingInterval: LOOK_MS,
})

function bound<Listener extends Server | SecureServer>(
  server: Listener,
  { bounds, sharedAddresses = [] }: ListenerOptions,
): Listener {
  server.maxConnections = bounds.connections
  if (bounds.streams === true) {
    server.on('request', (request: IncomingMessage) => boundBody(server, request, bounds.bodyMs))
  }
  boundUnauthenticated(server, bounds, new Set(sharedAddresses.map(networkOf)))
  return server
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return length !== '0' || encoding !== undefined
}

/** Ends a late request in the same way as Node.js. */
function boundBody(server: Server | SecureServer, request: IncomingMessage, ms: number): void {
  if (!hasBody(request)) return
  const timer = setTimeout(() => {
    if (request.complete || request.socket.destroyed) return
    const late = Object.assign(new Error('the body did not arrive in time'), {
      code: 'ERR_HTTP_REQUEST_TIMEOUT',
    })
    if (!server.emit('clientError', late, request.socket)) request.socket.destroy()
  }, ms).unref()
  bodyTimers.set(request, timer)
  request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
}

/** Over a limit, the oldest unauthenticated connection is closed: a legitimate client authenticates within milliseconds. */
function boundUnauthenticated(
  server: Server | SecureServer,
  { connections, unauthenticated }: ListenerBounds,
  shared: ReadonlySet<string>,
): void {
  const open = new Map<string, Unauthenticated>()
  const ofNetwork = new Map<string, Set<Unauthenticated>>()
  let count = 0
  const forget = (key: string): void => {
    const found = open.get(key)
    open.delete(key)
    if (found?.network === undefined) return
    const others = ofNetwork.get(found.network)
    others?.delete(found)
    if (others?.size === 0) ofNetwork.delete(found.network)
  }
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    count += 1
    socket.once('close', () => (count -= 1))
    // Local sockets are protected by the mode of their file.
    if (address === undefined) return
    const key = keyOf(socket)
    const network = shared.has(networkOf(address)) ? undefined : networkOf(address)
    const stranger: Unauthenticated = { socket, network }
    open.set(key, stranger)
    socket.once('close', () => forget(key))
    admitted.set(socket, () => forget(key))
    const [oldest] = open.values()
    if (count >= connections) oldest?.socket.destroy()
    if (network === undefined) return
    const others = ofNetwork.get(network) ?? new Set()
    ofNetwork.set(network, others.add(stranger))
    const [first] = others
    if (others.size > unauthenticated) first?.socket.destroy()
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const key = keyOf(socket)
    if (socket.authorized) forget(key)
    else admitted.set(socket, () => forget(key))
  })
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
