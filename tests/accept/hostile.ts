// The 13 operations as bytes, the Host names that are rejected, and how such requests are sent on a host.
import assert from 'node:assert/strict'
import { once } from 'node:events'

import type { LabHost } from '@skerry/lab'

import type { RawAnswer, RawJob } from './raw-requests.ts'

/** Method, path and body of each operation, on an existing VM. */
export const operations: readonly (readonly [string, string, string?])[] = [
  ['POST', '/api/vms', '{"id":"evil-1"}'],
  ['POST', '/api/vms', '{"id":"evil-2","parentid":"vm-1"}'],
  ['GET', '/api/vms'],
  ['GET', '/api/vms/vm-1'],
  ['PATCH', '/api/vms/power/vm-1', 'suspend'],
  ['GET', '/api/vms/power/vm-1'],
  ['GET', '/api/vms/vm-1/ipaddress'],
  ['PATCH', '/api/vms/vm-1/folders', 'true'],
  ['POST', '/api/vms/vm-1/folders', '{"guestPath":"x","hostPath":"/srv","flags":4}'],
  ['GET', '/api/vms/vm-1/folders'],
  ['GET', '/api/vms/vm-1/folders/docs'],
  ['DELETE', '/api/vms/vm-1/folders/docs'],
  ['DELETE', '/api/vms/vm-1'],
]

/** Missing resources, impossible operations and invalid requests must be indistinguishable from the rest. */
export const strange: readonly (readonly [string, string, string?])[] = [
  ['GET', '/api/vms/nobody'],
  ['GET', '/api/nothing'],
  ['PUT', '/api/vms'],
  ['OPTIONS', '/api/vms'],
  ['GET', '/api/vms/%zz'],
  ['POST', '/api/vms', '{'],
  ['PATCH', '/api/vms/power/vm-1', 'fly'],
  ['GET', `/api/vms/${'x'.repeat(4000)}`],
  ['PROPFIND', '/api/vms'],
  ['GET', 'http://evil.example/api/vms'],
]

/** As header lines: none, one or two of them. */
export const hostileHosts: readonly string[] = [
  '',
  ...[
    '',
    'evil.example',
    'evil.example:8080',
    '127.0.0.1',
    'localhost',
    '[::1]',
    '127.0.0.1:80',
    '127.0.0.1:8081',
    '127.0.0.1:08080',
    '127.0.0.1:+8080',
    '127.0.0.1:8080.',
    '127.0.0.1.:8080',
    '127.0.0.2:8080',
    '127.1:8080',
    '127.0.1:8080',
    '0177.0.0.1:8080',
    '0x7f000001:8080',
    '2130706433:8080',
    '0.0.0.0:8080',
    '0:8080',
    '10.83.0.1:8080',
    'localhost.:8080',
    'localhost:8080:8080',
    'localhost.localdomain:8080',
    'localhost.evil.example:8080',
    'evil.example#localhost:8080',
    'user@localhost:8080',
    'localhost:8080@evil.example',
    'localhost:8080,evil.example',
    'localhost:8080 evil.example',
    'localhost:8080/evil',
    'http://localhost:8080',
    '::1:8080',
    '[::]:8080',
    '[::ffff:127.0.0.1]:8080',
    '[0:0:0:0:0:0:0:1]:8080',
    '[::1%lo]:8080',
  ].map((host) => `Host: ${host}\r\n`),
  'Host: localhost:8080\r\nHost: evil.example\r\n',
  'Host: evil.example\r\nHost: localhost:8080\r\n',
]

export const origins: readonly string[] = [
  '',
  'Origin: http://evil.example\r\n',
  'Origin: null\r\n',
  'Origin: http://127.0.0.1:8080\r\n',
]

export function asBytes(
  [method, path, body = '']: readonly [string, string, string?],
  headers: string,
): string {
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\n${headers}${length}\r\n${body}`
}

/** Sends them from inside the host. */
export async function sendRaw(host: LabHost, job: RawJob): Promise<readonly RawAnswer[]> {
  const file = `${import.meta.dirname}/raw-requests.ts`
  const child = host.spawn([process.execPath, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stdin?.end(JSON.stringify(job))
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 0, 'the requests could not be sent')
  return JSON.parse(Buffer.concat(chunks).toString()) as RawAnswer[]
}

/** The number of responses per status. */
export function tally(answers: readonly RawAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
