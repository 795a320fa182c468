import { STATUS_CODES, type IncomingMessage, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { Fault } from '@skerry/fault'
import { WebSocketServer, type ServerOptions as WebSocketServerOptions, type WebSocket } from 'ws'

export interface ScreenServer {
  /**
   * Answers 101 and returns the socket, paused until it is relayed; call it last, after all checks. Rejects if the viewer
   * disconnects meanwhile or its handshake is invalid; in that case it has been answered.
   */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<WebSocket>
  /** The number of open screens. */
  readonly open: number
  /** Stops the pings. Open screens are closed by their relays. */
  close(): void
}

export interface ScreenServerOptions {
  /** The interval of pings; a viewer that stays silent until the next one is disconnected. */
  readonly pingMs?: number
  /** How long a viewer may take to answer our close frame before its socket is closed. */
  readonly closeMs?: number
}

/** Less than the idle timeout of balancers in between (30 s is the least in use). */
const PING_MS = 25_000
const CLOSE_MS = 5000
/** The largest message of a browser is a clipboard. */
const FRAME_BYTES = 1024 * 1024
/** No viewer sends a message in this many fragments. */
const FRAGMENTS = 1024

/** Limits for the HTTP server: the cost of a handshake before the client is known. */
export const handshakeBounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5000,
  requestTimeout: 5000,
  connectionsCheckingInterval: 1000,
} as const satisfies ServerOptions

/** One for a whole process: it has no port, only the rules and the pings. */
export function screenServer({
  pingMs = PING_MS,
  closeMs = CLOSE_MS,
}: ScreenServerOptions = {}): ScreenServer {
  // The types of ws do not know closeTimeout yet.
  const options: WebSocketServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES,
    maxFragments: FRAGMENTS,
    maxBufferedChunks: 4 * FRAGMENTS,
    // Pongs are sent below, and only if the viewer reads: otherwise they would accumulate in memory.
    autoPong: false,
    closeTimeout: closeMs,
    handleProtocols: (requested) => (requested.has('binary') ? 'binary' : false),
  }
  const server = new WebSocketServer(options)
  const viewers = new Map<WebSocket, Viewer>()
  const timer = setInterval(() => {
    for (const [webSocket, viewer] of viewers) checkAlive(webSocket, viewer)
  }, pingMs).unref()
  return {
    async accept(request, socket, head) {
      const accepted = Promise.withResolvers<WebSocket>()
      const lost = (): void => {
        const words = 'the viewer disconnected before its screen was opened'
        accepted.reject(new Fault('unavailable', words))
      }
      socket.once('close', lost)
      server.handleUpgrade(request, socket, head, (webSocket) => {
        // Early messages of the viewer wait until it is relayed.
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
 * A viewer that answers, sends or receives anything is alive. A viewer whose socket is paused because the guest
 * accepts no more input cannot be heard, so it is not checked.
 */
function checkAlive(webSocket: WebSocket, viewer: Viewer): void {
  const taken = viewer.socket.bytesWritten - viewer.socket.writableLength
  const there = viewer.heard || taken !== viewer.taken || webSocket.isPaused
  if (!there) return webSocket.terminate()
  viewer.heard = false
  if (webSocket.readyState === webSocket.OPEN && webSocket.bufferedAmount === 0) webSocket.ping()
  viewer.taken = viewer.socket.bytesWritten - viewer.socket.writableLength
}

/**
 * Whether a WebSocket may be opened from this Origin: compared exactly with a configured list, never with the request's own
 * Host, which a hostile page may choose. Without an Origin the client is not a browser: browsers always send one.
 */
export const mayComeFrom = (origin: string | undefined, allowed: readonly string[]): boolean =>
  origin === undefined || allowed.includes(origin)

/** Why a request is not a valid WebSocket handshake; checked before any lookup. */
export function whyNotHandshake({ method, headers }: IncomingMessage): string | undefined {
  if (method !== 'GET') return 'a screen is opened with GET'
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'expected Upgrade: websocket'
  if (headers['sec-websocket-version'] !== '13') return 'expected Sec-WebSocket-Version: 13'
  const key = headers['sec-websocket-key']
  return /^[+/0-9A-Za-z]{22}==$/.test(key ?? '') ? undefined : 'expected a Sec-WebSocket-Key'
}

/** Rejects an upgrade request, and closes the connection. */
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
