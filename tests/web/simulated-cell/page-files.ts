// The built page, with the headers that a cell sends with it.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

interface PageFile {
  readonly body: Buffer
  readonly packed: Buffer
  readonly type: string
  readonly etag: string
}

export type PageFiles = ReadonlyMap<string, PageFile>

export function loadPageFiles(directory: string): PageFiles {
  const names = globSync('**/*.*', { cwd: directory })
  if (!names.includes('index.html'))
    throw new Error('apps/web/dist is missing; run npm run build:web')
  return new Map(
    names.map((name) => {
      const body = readFileSync(join(directory, name))
      const digest = createHash('sha256').update(body).digest('base64url')
      return [
        `/ui/${name}`,
        {
          body,
          packed: gzipSync(body, { level: 9 }),
          type: types[extname(name)] ?? 'application/octet-stream',
          etag: `"${digest.slice(0, 16)}"`,
        },
      ]
    }),
  )
}

export function sendPageFile(
  files: PageFiles,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): void {
  const isAsset = path.startsWith('/ui/assets/')
  const file = files.get(path) ?? (isAsset ? undefined : files.get('/ui/index.html'))
  if (!file) return void response.writeHead(404).end()
  const headers = {
    'content-type': file.type,
    'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    ...(file.type.startsWith('text/html') && {
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    }),
  }
  if (request.headers['if-none-match'] === file.etag)
    return void response.writeHead(304, headers).end()
  const isText = file.type.startsWith('text/') || file.type.includes('svg')
  if (!isText) return void response.writeHead(200, headers).end(file.body)
  response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }).end(file.packed)
}
