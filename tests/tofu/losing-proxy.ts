// A proxy in front of a cell that loses answers: the first request with a key is carried out, and its connection ends without a response.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

import { startIssuer } from '@skerry/lab'

export interface LosingProxy extends AsyncDisposable {
  readonly url: string
  /** The certificate of its issuer. */
  readonly ca: string
  /** How many answers were lost. */
  readonly lost: number
}

export async function startLosingProxy(cell: string, ca: string): Promise<LosingProxy> {
  await using stack = new AsyncDisposableStack()
  const issuer = stack.use(await startIssuer('proxy'))
  const { cert, key } = await issuer.issue('IP:127.0.0.1')
  const seen = new Set<string>()
  const forward = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const { method, url = '/', headers } = from
    const body = await buffer(from)
    const sent = request(new URL(url, cell), { method, headers, ca, agent: false })
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const text = await buffer(answer)
    const name = headers['idempotency-key']?.toString()
    if (name !== undefined && !seen.has(name)) {
      seen.add(name)
      to.destroy()
      return
    }
    to.writeHead(answer.statusCode ?? 0, answer.headers).end(text)
  }
  const server = createServer({ cert, key }, (from, to) => {
    forward(from, to).catch(() => to.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const all = stack.move()
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: issuer.cert,
    get lost() {
      return seen.size
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
