import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

/** A client of vmd with keep-alive connections. */
export class VmdClient implements Disposable {
  readonly #agent: Agent

  constructor(connections = 1) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** The response as text; throws unless the status is a success. */
  async ask(method: string, path: string, body?: string): Promise<string> {
    const requested = request({ agent: this.#agent, host: '127.0.0.1', port: 8080, method, path })
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    requested.on('response', resolve).on('error', reject).end(body)
    const answer = await promise
    const said = await text(answer)
    if ((answer.statusCode ?? 0) < 300) return said
    throw new Error(`${method} ${path} was answered ${answer.statusCode}: ${said}`)
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
