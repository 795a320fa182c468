import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** A file of a web UI, ready to be sent. */
export interface PageFile {
  readonly body: Buffer
  /** With gzip; undefined if that makes it no smaller. */
  readonly packed: Buffer | undefined
  readonly type: string
  readonly etag: string
}

/** By path below the directory, such as assets/app-1a2b.js. */
export type PageFiles = ReadonlyMap<string, PageFile>

export interface PageResponse {
  readonly status: 200 | 304 | 503
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/**
 * The page may load files of its own origin only, and text of strangers can become neither script nor markup. It may contact its own
 * origin and the origins that are given here, such as wss://console.example.
 */
const policyOf = (contacts: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...contacts].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

export const pageHeaders = (
  contacts: readonly string[] = [],
): Readonly<Record<string, string>> => ({
  'content-security-policy': policyOf(contacts),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=()',
})

const INDEX = 'index.html'
/** Names of files below contain a hash of their content. */
const HASHED = /^assets\//
const GZIP_LEVEL = 9

/** Reads all files once, so that no request reaches the disk. Returns undefined if the directory has no index.html. */
export async function loadPageFiles(directory: string): Promise<PageFiles | undefined> {
  const files = new Map<string, PageFile>()
  for await (const name of glob('**/*.*', { cwd: directory })) {
    files.set(name, await makeFile(await readFile(join(directory, name)), extname(name)))
  }
  return files.has(INDEX) ? files : undefined
}

async function makeFile(body: Buffer, extension: string): Promise<PageFile> {
  const packed = await promisify(gzip)(body, { level: GZIP_LEVEL })
  const digest = createHash('sha256').update(body).digest('base64url')
  return {
    body,
    packed: packed.length < body.length ? packed : undefined,
    type: types[extension] ?? 'application/octet-stream',
    // Weak: the same for both encodings.
    etag: `W/"${digest.slice(0, 22)}"`,
  }
}

/** The response while there are no files; `program` is the server that read them when it started. */
export const pagesNotBuilt = (
  program: string,
  always: Readonly<Record<string, string>> = pageHeaders(),
): PageResponse => ({
  status: 503,
  headers: {
    ...always,
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
  },
  body: Buffer.from(
    `The web UI is not built. Run: npm run build:web, and start ${program} again.\n`,
  ),
})

interface PageRequest {
  readonly accept?: string | undefined
  readonly 'accept-encoding'?: string | undefined
  readonly 'if-none-match'?: string | undefined
}

/**
 * The response for a path below the UI, with the headers of `pageHeaders`; undefined: there is no such file. An address of a page is no
 * file: it is index.html.
 */
export function pageResponse(
  files: PageFiles,
  path: string,
  headers: PageRequest,
  always: Readonly<Record<string, string>> = pageHeaders(),
): PageResponse | undefined {
  const isPage = !HASHED.test(path) && (path === '' || /\btext\/html\b/.test(headers.accept ?? ''))
  const file = files.get(path) ?? (isPage ? files.get(INDEX) : undefined)
  if (!file) return undefined
  const common = {
    ...always,
    'cache-control': HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept, accept-encoding',
  }
  const known = (headers['if-none-match'] ?? '').split(',').map((each) => each.trim())
  if (known.includes(file.etag)) return { status: 304, headers: common }
  const isPacked =
    file.packed && /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(headers['accept-encoding'] ?? '')
  return {
    status: 200,
    headers: {
      ...common,
      'content-type': file.type,
      ...(isPacked && { 'content-encoding': 'gzip' }),
    },
    body: isPacked && file.packed ? file.packed : file.body,
  }
}
