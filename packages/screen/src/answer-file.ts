import type { IncomingHttpHeaders } from 'node:http'

import { FILES_PATH, type Encoding, type ScreenFile, type ScreenFiles } from './screen-files.ts'

/** An answer, whatever server sends it. */
export interface FileAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Absent where none may be sent: 304, HEAD. */
  readonly body?: Buffer
}

export interface FileRequest {
  readonly method: string
  /** Without the query, as it came: nothing in it is decoded or resolved, and none of it ever reaches a disk. */
  readonly path: string
  readonly headers: Pick<IncomingHttpHeaders, 'accept-encoding' | 'if-none-match'>
}

/**
 * Only from this origin, nothing from inside the page itself, shown in no other page. Pictures as data: are how noVNC makes
 * pointers and shows JPEG. Trusted types: no text of a guest becomes markup, not even by a mistake of ours.
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

/** The page. Its address may carry a ticket, so nobody keeps it. */
export const answerPage = ({ page }: ScreenFiles, request: FileRequest): FileAnswer =>
  answer(page, request, { ...ofPage, 'cache-control': 'no-store' })

/** A file of the page, or undefined where there is none at this path. */
export function answerFile(
  { files, version }: ScreenFiles,
  request: FileRequest,
): FileAnswer | undefined {
  if (!request.path.startsWith(FILES_PATH)) return undefined
  const [, asked, name = ''] =
    /^([0-9a-f]{16})\/(.+)$/.exec(request.path.slice(FILES_PATH.length)) ?? []
  const file = files.get(name)
  // A page of the version before, or after, while servers are being renewed: it gets what there is, and keeps it not.
  const cache = asked === version ? 'public, max-age=31536000, immutable' : 'no-cache'
  return file && answer(file, request, { 'cache-control': cache })
}

function answer(
  { type, etag, bodies }: ScreenFile,
  { method, headers: asked }: FileRequest,
  more: Readonly<Record<string, string>>,
): FileAnswer {
  const headers = { ...always, ...more, etag }
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, headers: { ...always, allow: 'GET, HEAD', 'content-length': '0' } }
  }
  if (asked['if-none-match']?.split(/\s*,\s*/).includes(etag)) return { status: 304, headers }
  const encoding = choose(asked['accept-encoding'] ?? '')
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
