// A stand-in for a console server: tickets that are valid once, and screens of a simulated display behind the real relay.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

import { mayComeFrom, refuseUpgrade, relay, screenServer, type Ending } from '@skerry/screen'

import {
  simulatedDisplay,
  type SimulatedDisplay,
} from '../../../packages/screen/test/simulated-display.ts'

export interface SimulatedConsole extends AsyncDisposable {
  /** As the page's policy names it. */
  readonly origin: string
  /** The address of a screen, with a new ticket. */
  addressOf(vm: string): string
  /** The displays of all screens that were opened, in order. */
  readonly displays: readonly SimulatedDisplay[]
  /** Ends all open screens. */
  end(ending: Ending): void
}

export async function startSimulatedConsole(pages: readonly string[]): Promise<SimulatedConsole> {
  const tickets = new Set<string>()
  const displays: SimulatedDisplay[] = []
  let ending = new AbortController()
  const screens = screenServer()
  const server = createServer((_request, response) => response.writeHead(404).end())
  const show = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const isKnown = tickets.delete(searchParams.get('ticket') ?? '')
    if (!isKnown || !mayComeFrom(request.headers.origin, pages))
      return refuseUpgrade(socket, 403, { error: 'forbidden' })
    const display = simulatedDisplay()
    displays.push(display)
    const webSocket = await screens.accept(request, socket, head)
    await relay(webSocket, display.stream, { signal: ending.signal })
  }
  server.on('upgrade', (request, socket, head) => {
    show(request, socket, head).catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `ws://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    displays,
    addressOf(vm) {
      const ticket = randomBytes(12).toString('base64url')
      tickets.add(ticket)
      return `${origin}/screen/${vm}?ticket=${ticket}`
    },
    end(how) {
      ending.abort(how)
      ending = new AbortController()
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      screens.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
