// Replaces the hosts that the published scenarios call: islands instead of pets, and a path with a password.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StandIn extends AsyncDisposable {
  readonly url: string
  readonly requested: { readonly method: string; readonly path: string; readonly key: string }[]
}

const islands = [
  { id: 1, name: 'Skerry', status: 'dry' },
  { id: 2, name: 'Holm', status: 'dry' },
  { id: 3, name: 'Shoal', status: 'wet' },
]

export async function startStandIn(): Promise<StandIn> {
  const requested: { method: string; path: string; key: string }[] = []
  let failures = 2
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://stand-in')
    const key = String(request.headers['idempotency-key'] ?? '')
    requested.push({ method: request.method ?? '', path: url.pathname, key })
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    const [, first, second, third] = url.pathname.split('/')
    if (first === 'islands' && second === undefined) {
      const status = url.searchParams.get('status')
      send(
        200,
        islands.filter((each) => each.status === status),
      )
    } else if (first === 'islands') {
      const found = islands.find((each) => String(each.id) === second)
      send(found === undefined ? 404 : 200, found ?? { message: 'no such island' })
    } else if (first === 'door') {
      const right = `Basic ${btoa(`${second}:${third}`)}`
      send(request.headers.authorization === right ? 200 : 401, { open: true })
    } else if (first === 'flaky') {
      send(failures-- > 0 ? 503 : 200, { ready: true })
    } else if (first === 'moved') {
      response.writeHead(302, { location: '/islands/1' }).end()
    } else if (first === 'echo') {
      void bodyOf(request).then((body) =>
        send(200, { method: request.method, query: url.search, body, headers: request.headers }),
      )
    } else send(404, { message: 'nothing here' })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requested,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
