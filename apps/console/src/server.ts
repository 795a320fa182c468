import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Duplex } from 'node:stream'

import {
  answerFile,
  answerPage,
  handshakeBounds,
  screenServer,
  type ScreenFiles,
} from '@skerry/screen'
import type { Shown } from '@skerry/service'

import { showScreen, type ShowWorld } from './show-screen.ts'

export interface DoorWorld extends Omit<ShowWorld, 'webSockets' | 'isDraining'> {
  /** The page and what it needs. */
  readonly files: ScreenFiles
  /** What browsers are shown, as it is now. */
  readonly tls: () => Shown
}

export interface Door extends AsyncDisposable {
  readonly server: Server
  /** Shows browsers the certificate as it is now; whoever is connected stays so. */
  renewed(): void
  /** No new screens from now on. The port is closed, so that a balancer turns to another process at once. */
  drain(): void
}

const HANDSHAKE_MS = 5000
/** Far more than one process can show, and below what a machine gives it in files. */
const CONNECTIONS_MOST = 10_000

/** The public door of a console: the page, its files, screens, and a word for balancers. Nothing else, and nowhere else to. */
export function openDoor(world: DoorWorld): Door {
  const tls = () => ({ ...world.tls(), minVersion: 'TLSv1.2' as const })
  const server = createServer({
    ...{ ...handshakeBounds, ...tls() },
    ...{ handshakeTimeout: HANDSHAKE_MS, keepAliveTimeout: HANDSHAKE_MS },
  })
  server.maxConnections = CONNECTIONS_MOST
  const webSockets = screenServer()
  let isDraining = false
  const showing = { ...world, webSockets, isDraining: () => isDraining }
  server.on('request', (request, response) => {
    answer(world.files, isDraining, request, response)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void showScreen(showing, { request, socket, head })
  })
  return {
    server,
    renewed: () => server.setSecureContext(tls()),
    drain() {
      isDraining = true
      server.close()
    },
    async [Symbol.asyncDispose]() {
      webSockets.close()
      const closed = server.listening ? once(server, 'close') : undefined
      if (server.listening) server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** What follows a `?` in an address may be a ticket: it is neither looked at nor written anywhere. */
function answer(
  files: ScreenFiles,
  isDraining: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = '', headers, url = '' } = request
  const [path = ''] = url.split('?')
  const asked = { method, path, headers }
  const found = path === '/console' ? answerPage(files, asked) : answerFile(files, asked)
  if (found) response.writeHead(found.status, found.headers).end(found.body)
  else if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD').setHeader('connection', 'close')
    say(response, 405, { error: 'invalid', message: 'expected GET' })
  } else if (path === '/health') {
    say(response, isDraining ? 503 : 200, { health: isDraining ? 'stopping' : 'ok' })
  } else say(response, 404, { error: 'not-found', message: 'there is nothing at this address' })
}

function say(response: ServerResponse, status: number, body: Readonly<Record<string, string>>) {
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    ...{ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    ...{ 'x-content-type-options': 'nosniff', 'content-length': Buffer.byteLength(text) },
  })
  response.end(text)
}
