import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

const GZIP_MIN = 1400

export function sendJson(
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = body === undefined ? '' : JSON.stringify(body)
  const isPacked = text.length > GZIP_MIN
  response.writeHead(status, {
    'content-type': 'application/vnd.skerry.cloud+json;version=5.1',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // An API answer that a browser is navigated to shows nothing and runs nothing.
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    ...(isPacked && { 'content-encoding': 'gzip' }),
    ...headers,
  })
  response.end(isPacked ? gzipSync(text) : text)
}

export const sendError = (
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
): void => sendJson(response, status, { majorErrorCode: status, minorErrorCode: code, message })

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

export async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await readText(request)
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
}

export async function countBody(request: IncomingMessage): Promise<number> {
  let bytes = 0
  for await (const chunk of request) bytes += (chunk as Buffer).length
  return bytes
}
