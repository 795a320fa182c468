// The cloud API in JSON, as another client than the provider uses it.
import { randomUUID } from 'node:crypto'
import { request } from 'node:https'
import { text as textOf } from 'node:stream/consumers'

import { until } from '@skerry/lab'

export interface JsonDocument {
  readonly [key: string]: unknown
}

export interface JsonReply {
  readonly status: number
  readonly token: string
  readonly document: JsonDocument
}

export class JsonApi {
  readonly #base: string
  readonly #ca: string
  readonly #authorization: string

  constructor(base: string, ca: string, authorization: string) {
    this.#base = base
    this.#ca = ca
    this.#authorization = authorization
  }

  /** An API token of a user with a password, and a client with it. */
  static async withToken(
    base: string,
    ca: string,
    login: string,
    name: string,
  ): Promise<{ readonly api: JsonApi; readonly token: string }> {
    const basic = `Basic ${Buffer.from(login).toString('base64')}`
    const { token: session } = await new JsonApi(base, ca, basic).ask('POST', '/api/sessions')
    const made = await new JsonApi(base, ca, `Bearer ${session}`).ask(
      'POST',
      '/api/session/tokens',
      {
        name,
      },
    )
    const token = String(made.document['token'])
    return { token, api: new JsonApi(base, ca, `Bearer ${token}`) }
  }

  /** A request that the cloud has no time for is repeated, as the provider does; its key makes that safe. */
  ask(method: string, path: string, body?: object): Promise<JsonReply> {
    const key = randomUUID()
    return until(`${method} ${path} is answered`, async () => {
      const reply = await this.#send(method, path, key, body)
      return reply.status !== 503 && reply
    })
  }

  async #send(method: string, path: string, key: string, body?: object): Promise<JsonReply> {
    const sent = request(new URL(path, this.#base), {
      method,
      ca: this.#ca,
      agent: false,
      headers: {
        accept: 'application/json',
        authorization: this.#authorization,
        ...(method !== 'GET' && { 'idempotency-key': key }),
      },
    })
    const { promise, resolve, reject } = Promise.withResolvers<JsonReply>()
    sent.once('error', reject)
    sent.once('response', (response) => {
      textOf(response).then((text) => {
        resolve({
          status: response.statusCode ?? 0,
          token: String(response.headers['x-cloud-authorization']),
          document: (text === '' ? {} : JSON.parse(text)) as JsonDocument,
        })
      }, reject)
    })
    sent.end(body && JSON.stringify(body))
    return promise
  }

  /** Sends a request that must succeed, and waits for its task. */
  async act(method: string, path: string, body?: object): Promise<JsonDocument> {
    const { status, document } = await this.ask(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(document)}`)
    if (status !== 202) return document
    const task = new URL(String(document['href'])).pathname
    const ended = async () =>
      ['success', 'error'].includes(String((await this.get(task))['status']))
    await until(`${method} ${path} ends`, ended, 120_000)
    return document
  }

  async get(path: string): Promise<JsonDocument> {
    const { status, document } = await this.ask('GET', path)
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(document)}`)
    return document
  }

  /** The names that a query finds. */
  async names(type: string, filter = ''): Promise<readonly string[]> {
    const found = await this.get(
      `/api/query?type=${type}&pageSize=128&filter=${encodeURIComponent(filter)}`,
    )
    const [records = []] = Object.values(found)
      .filter(Array.isArray)
      .filter((each) => each.some((one: object) => !('rel' in one)))
    return (records as readonly { readonly name: string }[]).map(({ name }) => name)
  }
}
