// Every request to the API: asks for JSON, understands errors, waits as Retry-After says, and notices the end of the session.

import { uuid } from './clock-and-ids.ts'
import { CODE_MISSING } from './second-factor-documents.ts'

/** A request that the server rejected, or that it did not answer (status 0). */
export class ApiError extends Error {
  readonly status: number
  /** The minorErrorCode, such as CONFLICT. */
  readonly code: string
  /** What the user can do next, if the server says so. */
  readonly hint: string | undefined
  readonly requestId: string | undefined
  /** The whole answer, if it was JSON. */
  readonly document: unknown

  constructor(
    status: number,
    code: string,
    message: string,
    { requestId, document }: { readonly requestId?: string; readonly document?: unknown } = {},
  ) {
    const [reason = message, ...hints] = message.split('; ')
    super(reason)
    this.status = status
    this.code = code
    this.hint = hints.length === 0 ? undefined : hints.join('; ')
    this.requestId = requestId
    this.document = document
  }
}

/** Message and hint as one sentence. */
export const explain = (error: unknown): string => {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  return [error.message, error.hint].filter(Boolean).join('. ')
}

export const ACCEPT = 'application/*+json;version=5.1'
const TIMEOUT_MS = 15_000
const RETRIES = 2
const RETRY_MS = 400
const RETRY_AFTER_MAX_MS = 10_000

/** What the rest of the app wants to know of requests. */
export const requestEvents = {
  onUnreachable: (): void => undefined,
  /** The server answered, and not only that it cannot. */
  onAnswered: (): void => undefined,
  onUnauthenticated: (): void => undefined,
}

let sessions = 0

/** The user has logged in. */
export const beginSession = (): void => {
  sessions += 1
}

/** For a request that is about to be sent: whether no session has begun since. A 401 says nothing about a later session. */
export function watchSession(): () => boolean {
  const sent = sessions
  return () => sent === sessions
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** One key per intent of the user: a request that is repeated with it is done once. Default: a new key. */
  readonly idempotencyKey?: string
  /** A 401 is an ordinary answer, as for a login with a wrong password. */
  readonly expects401?: boolean
}

/** A segment . or .., also encoded: URLs resolve them. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?#\\]|$)/i

/**
 * The path of an href: documents have absolute addresses of the cloud, the page asks its own origin. Ids of the page's address are part
 * of it: one with dot segments would lead to another resource than the page shows.
 */
export const pathOf = (href: string): string => {
  const url = new URL(href, 'https://cloud.invalid')
  if (DOT_SEGMENT.test(href)) throw new ApiError(404, 'NOT_FOUND', 'There is no such address')
  return url.pathname + url.search
}

/** The last segment of an href, such as vm-0198…. */
export const idOf = (href: string): string => href.slice(href.lastIndexOf('/') + 1)

export async function request<T>(href: string, options: RequestOptions = {}): Promise<T> {
  const { method = 'GET', idempotencyKey = uuid() } = options
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt === RETRIES
    const isSameSession = watchSession()
    try {
      const response = await send(href, { ...options, method, idempotencyKey })
      if (response.status < 500) requestEvents.onAnswered()
      if (!isLast && isRetried(response.status, method)) {
        await pause(retryAfterMs(response) ?? RETRY_MS * 2 ** attempt, options.signal)
        continue
      }
      return await read<T>(response, options, isSameSession)
    } catch (error) {
      // A change whose answer was lost is sent again with the same key; a read is repeated by its next user.
      const isLost = error instanceof ApiError && error.status === 0
      if (isLast || !isLost || method === 'GET') throw error
      await pause(RETRY_MS * 2 ** attempt, options.signal)
    }
  }
}

/** 429 and 503 are not processed, so every method may repeat them. Other server errors are repeated for reads only. */
const isRetried = (status: number, method: string): boolean =>
  status === 429 || status === 503 || (status >= 500 && method === 'GET')

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, RETRY_AFTER_MAX_MS) : undefined
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })

async function send(
  href: string,
  { method, body, headers, signal, idempotencyKey }: RequestOptions & { readonly method: string },
): Promise<Response> {
  try {
    return await fetch(pathOf(href), {
      method,
      credentials: 'same-origin',
      redirect: 'error',
      headers: {
        accept: ACCEPT,
        ...(method !== 'GET' && { 'idempotency-key': idempotencyKey ?? '' }),
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
        }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    requestEvents.onUnreachable()
    throw new ApiError(0, 'UNREACHABLE', 'The server does not answer; the page may show old data')
  }
}

interface ErrorDocument {
  readonly message?: string
  readonly minorErrorCode?: string
  /** Of the workflow server and of vmd, instead of the end of the message. */
  readonly hint?: string
}

async function read<T>(
  response: Response,
  { expects401 }: RequestOptions,
  isSameSession: () => boolean,
): Promise<T> {
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  const document = text === '' || !type.includes('json') ? undefined : (JSON.parse(text) as unknown)
  if (response.ok) return (type.startsWith('text/plain') ? text : document) as T
  const { message, minorErrorCode, hint } = (document ?? {}) as ErrorDocument
  // A missing code of a second factor is no end of the session.
  const isRefused = response.status === 401 && !expects401 && minorErrorCode !== CODE_MISSING
  if (isRefused && isSameSession()) requestEvents.onUnauthenticated()
  const requestId = response.headers.get('x-request-id')
  throw new ApiError(
    response.status,
    minorErrorCode ?? String(response.status),
    [message, hint].filter(Boolean).join('; ') ||
      `The server answered ${response.status} ${response.statusText}`.trim(),
    { document, ...(requestId !== null && { requestId }) },
  )
}
