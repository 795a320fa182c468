import { CloudApiError } from './cloud-api-error.ts'
import { cloudOperations, type CloudDocuments, type CloudOperations } from './documents.gen.ts'

export interface CloudApiOptions {
  /** 'https://cloud.example'. */
  readonly url: string
  /** Of a session, or an API token. */
  readonly token: string
  /** Default: the one of the runtime. */
  readonly fetch?: typeof fetch
  /** The Idempotency-Key of a call that has none, such as a new UUID. Default: no key. */
  readonly newKey?: () => string
}

/** The path parameters, query and body of an operation, and the key that makes it safe to repeat. */
export type OperationRequest<Name extends keyof CloudOperations> = Omit<
  CloudOperations[Name],
  'answer'
> & {
  readonly key?: string
  readonly signal?: AbortSignal
}

/** An operation without required parameters can be called without any. */
type CallArguments<Name extends keyof CloudOperations> =
  {} extends OperationRequest<Name>
    ? [request?: OperationRequest<Name>]
    : [request: OperationRequest<Name>]

type Task = CloudDocuments['Task']

const POLL_MS = 1000

/** A client of the cloud API in JSON: one method for all operations, with the types of each. */
export class CloudApi {
  readonly #options: CloudApiOptions

  constructor(options: CloudApiOptions) {
    this.#options = options
  }

  /** Logs in with a user@organisation and a password; the session expires after half an hour without use. */
  static async logIn(
    options: Omit<CloudApiOptions, 'token'>,
    { user, password }: { readonly user: string; readonly password: string },
  ): Promise<CloudApi> {
    const { url, fetch: send = fetch } = options
    const bytes = new TextEncoder().encode(`${user}:${password}`)
    const credentials = btoa(String.fromCharCode(...bytes))
    const response = await send(`${url}${cloudOperations.createSession.path}`, {
      method: 'POST',
      headers: { accept: 'application/json', authorization: `Basic ${credentials}` },
    })
    await documentIn(response)
    const token = response.headers.get('x-cloud-authorization') ?? ''
    return new CloudApi({ ...options, token })
  }

  async call<Name extends keyof CloudOperations>(
    name: Name,
    ...[request]: CallArguments<Name>
  ): Promise<CloudOperations[Name]['answer']> {
    const { method, path } = cloudOperations[name]
    const given: AnyRequest = request ?? {}
    const address = new URL(this.#options.url + filled(path, given.params ?? {}))
    for (const [key, value] of Object.entries(given.query ?? {}))
      address.searchParams.set(key, value)
    return (await this.#send(method, address.href, given)) as CloudOperations[Name]['answer']
  }

  /** Reads a document at its href, such as one of a link. An href of another server is refused: it would get the token. */
  async read(href: string, signal?: AbortSignal): Promise<unknown> {
    if (new URL(href).origin !== new URL(this.#options.url).origin) {
      throw new TypeError(`${href} is not an address of ${this.#options.url}`)
    }
    return this.#send('GET', href, signal === undefined ? {} : { signal })
  }

  /** Waits until the task has ended, and returns it. A failed task is returned too: see its status. */
  async waitTask({ href = '' }: Pick<Task, 'href'>, signal?: AbortSignal): Promise<Task> {
    for (;;) {
      const task = (await this.read(href, signal)) as Task
      if (!['queued', 'running'].includes(task.status)) return task
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      signal?.throwIfAborted()
    }
  }

  async #send(method: string, href: string, { body, key, signal }: AnyRequest): Promise<unknown> {
    const { token, newKey, fetch: send = fetch } = this.#options
    const response = await send(href, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        ...(method !== 'GET' && keyed(key ?? newKey?.())),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    return documentIn(response)
  }
}

const keyed = (key: string | undefined): { readonly 'idempotency-key'?: string } =>
  key === undefined ? {} : { 'idempotency-key': key }

interface AnyRequest {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly key?: string
  readonly signal?: AbortSignal
}

const filled = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

async function documentIn(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!response.ok) throw new CloudApiError(errorIn(response, text), response.headers)
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

/** An error of a proxy, or of a request that the cloud could not read, is not in JSON. */
function errorIn({ status, statusText }: Response, text: string): CloudDocuments['Error'] {
  try {
    const found = JSON.parse(text) as CloudDocuments['Error'] | null
    if (typeof found?.message === 'string') return found
  } catch {
    // The status says what is known.
  }
  return { majorErrorCode: status, minorErrorCode: 'UNKNOWN', message: `${status} ${statusText}` }
}
