import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Duplex } from 'node:stream'

import {
  answerFile,
  answerPage,
  handshakeBounds,
  screenServer,
  type ScreenFiles,
} from '@skerry/screen'
import {
  closeListener,
  createSecureListener,
  listenerBounds,
  pathOf,
  refuseWrite,
  sendJsonLine,
  type KeyAndCert,
} from '@skerry/service'

import { showScreen, type ShowScreenContext } from './screens/show-screen.ts'

export interface ConsoleContext extends Omit<ShowScreenContext, 'webSockets' | 'isDraining'> {
  /** The page and its files. */
  readonly files: ScreenFiles
  /** The current key and certificate for browsers. */
  readonly tls: () => KeyAndCert
  /** Addresses shared by many clients, such as a balancer's. */
  readonly sharedAddresses?: readonly string[] | undefined
}

export interface ConsoleListener extends AsyncDisposable {
  readonly server: Server
  /** Presents the current certificate to new connections; existing ones stay open. */
  renewed(): void
  /** Accepts no new screens. The port is closed, so that a balancer switches to another process at once. */
  drain(): void
}

/** The public listener of a console: the page, its files, screens, and a health path for balancers. Nothing else. */
export function openConsoleListener(context: ConsoleContext): ConsoleListener {
  const tls = () => ({ ...context.tls(), minVersion: 'TLSv1.2' as const })
  const { sharedAddresses } = context
  const server = createSecureListener(
    { bounds: listenerBounds.console, sharedAddresses },
    { ...handshakeBounds, ...tls() },
  )
  const webSockets = screenServer()
  let isDraining = false
  const showing = { ...context, webSockets, isDraining: () => isDraining }
  server.on('request', (request, response) => {
    measure(context, request, response)
    answer(context.files, isDraining, request, response)
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
      await closeListener(server)
    },
  }
}

/** Route names of the known paths. */
const routes: Readonly<Record<string, string>> = { '/console': 'readPage', '/health': 'readHealth' }

function measure(
  { answered }: ConsoleContext,
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
): void {
  const began = performance.now()
  response.once('finish', () => {
    const { statusCode: status } = response
    const route = routes[pathOf(url)] ?? (status < 400 ? 'readFile' : undefined)
    // A client may send any word as the method; keep the label set bounded.
    const known = method === 'GET' || method === 'HEAD' ? method : 'other'
    answered?.(route, { method: known, status, seconds: (performance.now() - began) / 1000 })
  })
}

/** The query string may contain a ticket: it is neither read nor logged here. */
function answer(
  files: ScreenFiles,
  isDraining: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = '', headers, url = '' } = request
  const path = pathOf(url)
  const requested = { method, path, headers }
  const found = path === '/console' ? answerPage(files, requested) : answerFile(files, requested)
  if (found) response.writeHead(found.status, found.headers).end(found.body)
  else if (refuseWrite(request, response)) return
  else if (path === '/health') {
    const health = isDraining ? 'stopping' : 'ok'
    sendJsonLine(response, isDraining ? 503 : 200, { health })
  } else sendJsonLine(response, 404, { error: 'not-found', message: 'path not found' })
}
