// The page as served by our servers, in both modes, with a display chosen by the test.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

import {
  answerFile,
  answerPage,
  handshakeBounds,
  loadScreenFiles,
  refuseUpgrade,
  relay,
  screenServer,
  type Ending,
} from '../src/index.ts'

export interface PageStand extends AsyncDisposable {
  readonly origin: string
  /** Every request, unmodified. */
  readonly requested: { readonly url: string; readonly referer: string | undefined }[]
  /** The power state that vmd reports for the laptop's only VM. */
  power: string
  /** Creates a ticket and the URL that opens the page with it. */
  ticket(): { readonly ticket: string; readonly address: string }
  /** Ends every open screen with this close frame. */
  end(ending: Ending): void
  /** Cuts every open screen without a close frame, like a process that dies. */
  cut(): void
}

export async function startPageStand(display: () => Duplex): Promise<PageStand> {
  const files = await loadScreenFiles()
  const screens = screenServer()
  const requested: PageStand['requested'] = []
  const tickets = new Set<string>()
  const sockets = new Set<Duplex>()
  let end = new AbortController()
  let made = 0
  const server = createServer(
    { ...handshakeBounds },
    ({ method = '', url = '', headers }, response) => {
      requested.push({ url, referer: headers.referer })
      const [path = ''] = url.split('?')
      const request = { method, path, headers }
      if (path === '/health') return response.end('{}')
      if (path.startsWith('/api/vms/power/')) {
        response.setHeader('content-type', 'application/json')
        return response.end(JSON.stringify({ code: 200, message: stand.power }))
      }
      const isPage = path === '/console' || /^\/console\/[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(path)
      const answer = isPage ? answerPage(files, request) : answerFile(files, request)
      response.writeHead(answer?.status ?? 404, answer?.headers)
      return response.end(answer?.body)
    },
  ).listen(0, '127.0.0.1')
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const url = new URL(request.url ?? '', 'http://x')
    const mayOpen =
      url.pathname === '/console/web/screen'
        ? stand.power === 'powered on'
        : tickets.delete(url.searchParams.get('ticket') ?? '')
    if (!mayOpen) return refuseUpgrade(socket, 403, { message: 'used or too old' })
    sockets.add(socket)
    const open = async (): Promise<void> => {
      await relay(await screens.accept(request, socket, head), display(), { signal: end.signal })
    }
    return void open()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const stand: PageStand = {
    origin,
    requested,
    power: 'powered on',
    ticket() {
      const ticket = `cst-${++made}/+=${'x'.repeat(20)}`
      tickets.add(ticket)
      const text = `mks://console.example:8443/vm-7c9e?ticket=${encodeURIComponent(ticket)}`
      return { ticket, address: `${origin}/console?${encodeURIComponent(text)}` }
    },
    end(ending) {
      end.abort(ending)
      end = new AbortController()
    },
    cut() {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    async [Symbol.asyncDispose]() {
      screens.close()
      server.close()
      server.closeAllConnections()
      stand.cut()
      await once(server, 'close')
    },
  }
  return stand
}
