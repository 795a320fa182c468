// A proxy between a client and our server that records the traffic. Clients follow the addresses in documents, so these are
// rewritten to the proxy; nothing else is changed, in either direction.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

import { startIssuer } from '@skerry/lab'

export interface Message {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Exchange {
  readonly method: string
  /** Including the query. */
  readonly path: string
  readonly sent: Message
  readonly status: number
  readonly said: Message
}

export interface Recorder extends AsyncDisposable {
  readonly url: string
  /** PEM: its CA certificate. */
  readonly ca: string
  readonly exchanges: Exchange[]
}

/** A proxy in front of one of our servers, whose CA certificate is the second argument. */
export async function startRecorder(target: string, ca: string): Promise<Recorder> {
  await using stack = new AsyncDisposableStack()
  const issuer = stack.use(await startIssuer('recorder'))
  const exchanges: Exchange[] = []
  let url = ''
  const pass = async (requested: IncomingMessage, answer: ServerResponse) => {
    const { method = '', url: path = '/' } = requested
    const sent = { headers: flat(requested), body: await buffer(requested) }
    const { headers, body } = moved(sent, url, target)
    const passed = request(new URL(path.replaceAll(...encoded(url, target)), target), {
      method,
      ca,
      agent: false,
      headers,
    })
    passed.end(body)
    const [response] = (await once(passed, 'response')) as [IncomingMessage]
    const said = moved({ headers: flat(response), body: await buffer(response) }, target, url)
    const { statusCode: status = 0 } = response
    exchanges.push({ method, path, sent, status, said })
    answer.writeHead(status, said.headers).end(said.body)
  }
  const server = createServer(await issuer.issue('IP:127.0.0.1'), (requested, answer) => {
    pass(requested, answer).catch((error: unknown) => answer.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  stack.defer(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const all = stack.move()
  return { url, ca: issuer.cert, exchanges, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const flat = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !['connection', 'transfer-encoding', 'keep-alive'].includes(name))
      .map(([name, value]) => [name, String(value)]),
  )

const encoded = (from: string, to: string) =>
  [encodeURIComponent(from), encodeURIComponent(to)] as const

/** The same with one address replaced by the other. Binary data contains no address. */
function moved({ headers, body }: Message, from: string, to: string): Message {
  const move = (text: string) => text.replaceAll(from, to).replaceAll(...encoded(from, to))
  const isText = /xml|json|text/.test(headers['content-type'] ?? '')
  const moving = isText ? Buffer.from(move(body.toString())) : body
  const all = Object.entries(headers).map(([name, value]) => [name, move(value)])
  return {
    headers: {
      ...(Object.fromEntries(all) as Record<string, string>),
      host: new URL(to).host,
      // Compressed data cannot be read here.
      ...('accept-encoding' in headers && { 'accept-encoding': 'identity' }),
      ...('content-length' in headers && { 'content-length': String(moving.length) }),
    },
    body: moving,
  }
}
