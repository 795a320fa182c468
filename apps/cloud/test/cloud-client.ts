// A client of the cloud API for tests: raw requests, parsed documents, waiting for tasks.
import type { IncomingMessage } from 'node:http'
import { request, type Agent } from 'node:https'
import { text as textOf } from 'node:stream/consumers'

import { until } from '@skerry/lab'
import { attribute, childrenByLocalName, readXml, type Element } from '@skerry/xml'

import { ours, type Dialect } from '../src/dialect/dialect.ts'
import { holdToSchema } from './held-to-schema.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly root: Element | undefined
}

interface Sent {
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** How it sends requests. Default: in our dialect. */
interface Way {
  readonly agent?: Agent | false
  readonly dialect?: Dialect
}

const accept = { accept: 'application/*+xml;version=5.1' }

export class CloudClient {
  readonly #base: string
  readonly #ca: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Agent | false
  readonly #dialect: Dialect

  constructor(
    base: string,
    ca: string,
    headers: Readonly<Record<string, string>>,
    { agent = false, dialect = ours }: Way = {},
  ) {
    this.#base = base
    this.#ca = ca
    this.#headers = headers
    this.#agent = agent
    this.#dialect = dialect
  }

  static async logIn(base: string, ca: string, user: string, password: string, way: Way = {}) {
    const { status, headers, text } = await CloudClient.tryLogIn(base, ca, user, password, way)
    if (status !== 200) throw new Error(`login: ${status} ${text}`)
    const { tokenHeader } = way.dialect ?? ours
    const own = { ...accept, [tokenHeader]: String(headers[tokenHeader]) }
    return new CloudClient(base, ca, own, way)
  }

  /** Sends a request and returns the cell's response, with any status. */
  static tryLogIn(
    base: string,
    ca: string,
    user: string,
    password: string,
    way: Way = {},
  ): Promise<Reply> {
    const basic = Buffer.from(`${user}:${password}`).toString('base64')
    const stranger = new CloudClient(base, ca, { ...accept, authorization: `Basic ${basic}` }, way)
    return stranger.ask('POST', '/api/sessions')
  }

  /** Its authentication headers, for requests without this client. */
  get headers(): Readonly<Record<string, string>> {
    return this.#headers
  }

  /** The same client at another cell. */
  at(base: string): CloudClient {
    const way = { agent: this.#agent, dialect: this.#dialect }
    return new CloudClient(base, this.#ca, this.#headers, way)
  }

  /** The same client over keep-alive connections: a handshake costs more than most responses. */
  over(agent: Agent): CloudClient {
    const way = { agent, dialect: this.#dialect }
    return new CloudClient(this.#base, this.#ca, this.#headers, way)
  }

  async ask(method: string, where: string, sent: Sent = {}): Promise<Reply> {
    const response = await this.open(method, where, sent)
    const text = await textOf(response)
    const { statusCode: status = 0, headers } = response
    const { accept: wanted } = { ...this.#headers, ...sent.headers }
    holdToSchema({
      dialect: this.#dialect,
      requested: `${method} ${where}`,
      accept: wanted,
      status,
      type: headers['content-type'],
      text,
    })
    const isDocument = text !== '' && !/^(image\/png|text\/csv)/.test(headers['content-type'] ?? '')
    return { status, headers, text, root: isDocument ? readXml(text) : undefined }
  }

  /** The response as a stream, which may never end. */
  async open(
    method: string,
    where: string,
    { body, headers, signal }: Sent = {},
  ): Promise<IncomingMessage> {
    const path = where.startsWith('https:')
      ? new URL(where).pathname + new URL(where).search
      : where
    const requested = request(new URL(path, this.#base), {
      method,
      ca: this.#ca,
      agent: this.#agent,
      headers: { ...this.#headers, ...headers },
      ...(signal && { signal }),
    })
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    requested.on('error', reject)
    requested.on('response', resolve)
    requested.end(body)
    return promise
  }

  async get(where: string): Promise<Element> {
    const { status, text, root } = await this.ask('GET', where)
    if (status !== 200 || !root) throw new Error(`GET ${where}: ${status} ${text}`)
    return root
  }

  /** The hrefs that lead from a login to a new vApp. */
  async start(): Promise<{ vdc: string; template: string }> {
    const [org] = linksTo(await this.get('/api/session'), 'org+xml')
    const [vdc = ''] = linksTo(await this.get(org ?? ''), 'vdc+xml')
    const [entities] = childrenByLocalName(await this.get(vdc), 'ResourceEntities')
    const [template] = childrenByLocalName(entities, 'ResourceEntity')
    return { vdc, template: attribute(template, 'href') ?? '' }
  }

  async instantiate(name: string, { power = true, key = '' } = {}): Promise<Reply> {
    const { vdc, template } = await this.start()
    const body = `<InstantiateVAppTemplateParams name="${name}" powerOn="${power}"><Source href="${template}"/></InstantiateVAppTemplateParams>`
    return this.ask('POST', `${vdc}/action/instantiateVAppTemplate`, {
      body,
      headers: key === '' ? {} : { 'idempotency-key': key },
    })
  }

  /** Waits for the task to end, and returns its last document. */
  async ended(task: string, withinMs = 120_000): Promise<Element> {
    let last: Element | undefined
    await until(
      `task ${task} ends`,
      async () => {
        last = await this.get(task).catch(() => undefined)
        const status = attribute(last, 'status') ?? ''
        return ['success', 'error', 'canceled'].includes(status)
      },
      withinMs,
    )
    return last as Element
  }
}

/** The href of the Task in a document, or of the document itself. */
export function taskOf(root: Element | undefined): string {
  if (root?.name === 'Task') return attribute(root, 'href') ?? ''
  const [tasks] = childrenByLocalName(root, 'Tasks')
  const [task] = childrenByLocalName(tasks, 'Task')
  return attribute(task, 'href') ?? ''
}

export const linksTo = (root: Element, type: string): string[] =>
  childrenByLocalName(root, 'Link')
    .filter((link) => attribute(link, 'type')?.endsWith(type) && attribute(link, 'rel') === 'down')
    .map((link) => attribute(link, 'href') ?? '')
