import { STATUS_CODES, type IncomingMessage, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { Fault } from '@skerry/fault'
import { WebSocketServer, type WebSocket } from 'ws'

export interface ScreenServer {
  /**
   * Answers 101 and gives the socket, paused until it is relayed; asked last, when everything else was found right. Rejects when the viewer
   * goes away meanwhile or its handshake is none; it was answered then.
   */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<WebSocket>
  /** Screens that are open now. */
  readonly open: number
  /** Stops the pings. Open screens are ended by those who relay them. */
  close(): void
}

export interface ScreenServerOptions {
  /** Said into the silence; who is silent until the next is given up. */
  readonly pingMs?: number
  /** How long a viewer may take to answer our close before its socket is cut. */
  readonly closeMs?: number
}

/** Less than the idle time of the balancers that stand in between (30 s is the least in use). */
const PING_MS = 25_000
const CLOSE_MS = 5000
/** What a browser sends at once is a clipboard at most. */
const FRAME_BYTES = 1024 * 1024
/** A message in this many pieces is no viewer's. */
const FRAGMENTS = 1024

/** For the HTTP server in front: what a handshake may cost before anybody knows who asks. */
export const handshakeBounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5000,
  requestTimeout: 5000,
  connectionsCheckingInterval: 1000,
} as const satisfies ServerOptions

/** One for a whole process: it keeps no port, only the rules and the pings. */
export function screenServer({
  pingMs = PING_MS,
  closeMs = CLOSE_MS,
}: ScreenServerOptions = {}): ScreenServer {
  const server = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
    ...{ maxPayload: FRAME_BYTES, maxFragments: FRAGMENTS, maxBufferedChunks: 4 * FRAGMENTS },
    // Answered below, and only to one who reads: pongs for a viewer that never does would wait in memory without bound.
    ...{ autoPong: false, closeTimeout: closeMs },
    handleProtocols: (asked) => (asked.has('binary') ? 'binary' : false),
  })
  const viewers = new Map<WebSocket, Viewer>()
  const timer = setInterval(() => {
    for (const [webSocket, viewer] of viewers) look(webSocket, viewer)
  }, pingMs).unref()
  return {
    async accept(request, socket, head) {
      const accepted = Promise.withResolvers<WebSocket>()
      const lost = (): void => {
        const words = 'the viewer went away before its screen was opened'
        accepted.reject(new Fault('unavailable', words))
      }
      socket.once('close', lost)
      server.handleUpgrade(request, socket, head, (webSocket) => {
        // What the viewer says at once waits until it is relayed.
        webSocket.pause()
        accepted.resolve(webSocket)
      })
      const webSocket = await accepted.promise
      socket.off('close', lost)
      viewers.set(webSocket, watch(webSocket, socket as Socket))
      webSocket.once('close', () => viewers.delete(webSocket))
      return webSocket
    },
    get open() {
      return viewers.size
    },
    close() {
      clearInterval(timer)
    },
  }
}

interface Viewer {
  readonly socket: Socket
  heard: boolean
  taken: number
}

function watch(webSocket: WebSocket, socket: Socket): Viewer {
  const viewer: Viewer = { socket, heard: true, taken: 0 }
  const heard = (): void => {
    viewer.heard = true
  }
  webSocket.on('message', heard).on('pong', heard)
  webSocket.on('ping', (data: Buffer) => {
    heard()
    if (webSocket.bufferedAmount === 0) webSocket.pong(data)
  })
  webSocket.on('error', () => undefined)
  return viewer
}

/**
 * Who answers, says anything or takes bytes is there. One whom we do not read because the guest takes no
 * more cannot be heard, and is not judged.
 */
function look(webSocket: WebSocket, viewer: Viewer): void {
  const taken = viewer.socket.bytesWritten - viewer.socket.writableLength
  const there = viewer.heard || taken !== viewer.taken || webSocket.isPaused
  if (!there) return webSocket.terminate()
  viewer.heard = false
  if (webSocket.readyState === webSocket.OPEN && webSocket.bufferedAmount === 0) webSocket.ping()
  viewer.taken = viewer.socket.bytesWritten - viewer.socket.writableLength
}

/**
 * Whether a WebSocket may be opened from this Origin: a list that was configured, compared letter by letter, never with the
 * request's own Host, which a hostile page may choose. None at all is a client that is no browser: a browser always sends one.
 */
export const mayComeFrom = (origin: string | undefined, allowed: readonly string[]): boolean =>
  origin === undefined || allowed.includes(origin)

/** Why a request is no WebSocket handshake of ours, before anything is looked up for it. */
export function whyNotHandshake({ method, headers }: IncomingMessage): string | undefined {
  if (method !== 'GET') return 'a screen is opened with GET'
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'expected Upgrade: websocket'
  if (headers['sec-websocket-version'] !== '13') return 'expected Sec-WebSocket-Version: 13'
  const key = headers['sec-websocket-key']
  return /^[+/0-9A-Za-z]{22}==$/.test(key ?? '') ? undefined : 'expected a Sec-WebSocket-Key'
}

/** Answers an upgrade that is not granted, and closes. */
export function refuseUpgrade(
  socket: Duplex,
  status: number,
  body: Readonly<Record<string, unknown>>,
): void {
  const text = JSON.stringify(body)
  socket.on('error', () => undefined)
  socket.once('finish', () => socket.destroy())
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(text)}`,
      'cache-control: no-store',
      'connection: close',
      '',
      text,
    ].join('\r\n'),
  )
}
