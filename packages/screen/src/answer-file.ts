import type { IncomingHttpHeaders } from 'node:http'

import { FILES_PATH, type Encoding, type ScreenFile, type ScreenFiles } from './screen-files.ts'

/** A response, independent of the HTTP server. */
export interface FileAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Absent if no body may be sent: 304, HEAD. */
  readonly body?: Buffer
}

export interface FileRequest {
  readonly method: string
  /** Without the query, unmodified: it is neither decoded nor resolved, and never reaches the file system. */
  readonly path: string
  readonly headers: Pick<IncomingHttpHeaders, 'accept-encoding' | 'if-none-match'>
}

/**
 * Only resources of this origin, nothing inline, no framing. noVNC needs data: images for pointers and JPEG. Trusted types:
 * no text of a guest becomes markup, not even because of a bug.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const always = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
} as const

const ofPage = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), display-capture=()',
  'x-frame-options': 'DENY',
} as const

/** The page. Its URL may contain a ticket, so it must not be cached. */
export const answerPage = ({ page }: ScreenFiles, request: FileRequest): FileAnswer =>
  answer(page, request, { ...ofPage, 'cache-control': 'no-store' })

/** A file of the page, or undefined if there is none at this path. */
export function answerFile(
  { files, version }: ScreenFiles,
  request: FileRequest,
): FileAnswer | undefined {
  if (!request.path.startsWith(FILES_PATH)) return undefined
  const [, requested, name = ''] =
    /^([0-9a-f]{16})\/(.+)$/.exec(request.path.slice(FILES_PATH.length)) ?? []
  const file = files.get(name)
  // A page of another version, during a rolling update: it gets the current file, uncached.
  const cache = requested === version ? 'public, max-age=31536000, immutable' : 'no-cache'
  return file && answer(file, request, { 'cache-control': cache })
}

function answer(
  { type, etag, bodies }: ScreenFile,
  { method, headers: requested }: FileRequest,
  more: Readonly<Record<string, string>>,
): FileAnswer {
  const headers = { ...always, ...more, etag }
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, headers: { ...always, allow: 'GET, HEAD', 'content-length': '0' } }
  }
  if (requested['if-none-match']?.split(/\s*,\s*/).includes(etag)) return { status: 304, headers }
  const encoding = choose(requested['accept-encoding'] ?? '')
  const body = bodies[encoding]
  const whole = {
    ...headers,
    'content-type': type,
    'content-length': String(body.length),
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
  return { status: 200, headers: whole, ...(method === 'HEAD' ? {} : { body }) }
}

function choose(accepted: string): Encoding {
  const words = accepted.toLowerCase().split(/\s*,\s*/)
  return words.includes('gzip') ? 'gzip' : 'identity'
}
