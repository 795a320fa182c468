// A viewer on one side, a display on the other, and the relay under test between them: all over real sockets.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, createServer as createNet, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'

import { WebSocket, type ClientOptions } from 'ws'

import {
  relay,
  screenServer,
  type RelayResult,
  type RelayOptions,
  type ScreenServerOptions,
} from '../src/index.ts'

export interface Opened {
  readonly viewer: WebSocket
  /** The relay's own ends. */
  readonly webSocket: WebSocket
  readonly display: Socket
  /** In place of QEMU. */
  readonly guest: Socket
  readonly relayed: Promise<RelayResult>
}

export interface Stand extends AsyncDisposable {
  readonly port: number
  open(
    relayOptions?: Partial<RelayOptions>,
    client?: ClientOptions,
    protocols?: string[],
  ): Promise<Opened>
}

export async function startStand(options: ScreenServerOptions = {}): Promise<Stand> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-screen-'))
  const path = join(directory, 'display')
  const guests = createNet({ allowHalfOpen: true }).listen(path)
  await once(guests, 'listening')
  const screens = screenServer(options)
  const http = createServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  const sockets = new Set<Duplex>()
  http.on('connection', (socket) => sockets.add(socket))
  guests.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)))

  return {
    port,
    async open(relayOptions = {}, client = {}, protocols = ['binary']) {
      const upgraded = once(http, 'upgrade') as Promise<[IncomingMessage, Duplex, Buffer]>
      const guestCame = once(guests, 'connection') as Promise<[Socket]>
      const display = connect(path)
      const viewer = new WebSocket(`ws://127.0.0.1:${port}/`, protocols, client)
      const isOpen = once(viewer, 'open')
      const webSocket = await screens.accept(...(await upgraded))
      const [guest] = await guestCame
      const signal = new AbortController().signal
      const relayed = relay(webSocket, display, { signal, ...relayOptions })
      await isOpen
      return { viewer, webSocket, display, guest, relayed }
    },
    async [Symbol.asyncDispose]() {
      screens.close()
      for (const socket of sockets) socket.destroy()
      guests.close()
      http.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Resolves with the close frame that the viewer received. */
export async function closed(viewer: WebSocket): Promise<[number, string]> {
  const [code, reason] = (await once(viewer, 'close')) as [number, Buffer]
  return [code, reason.toString()]
}
