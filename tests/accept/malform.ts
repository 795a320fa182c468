// Generates requests with one or two errors, the same ones for the same seed.
import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'

export interface Malformed {
  /** As latin1 text. */
  readonly bytes: string
  /** It announces more bytes than it sends, so there is no response: the sender disconnects. */
  readonly isCut: boolean
  /** Bytes after its response do not belong to the next request. */
  readonly needsOwnConnection: boolean
}

interface Draft {
  method: string
  path: string
  version: string
  headers: string[]
  body: string
  length: string | undefined
  tail: string
  isCut: boolean
}

export type Chance = (below: number) => number

export const chanceOf = (seed: number): Chance => seededRandom(seed).below

const bodies = [
  '{',
  '[]',
  'null',
  '"',
  '{"id":7}',
  '{"id":null}',
  '{"id":{"id":"x"}}',
  '{"id":"../../etc"}',
  '{"id":"a\\u0000b"}',
  '{"id":"\\ud800"}',
  '{"id":"power"}',
  '{"id":"x","id":""}',
  '{"__proto__":{"id":"x"},"constructor":{"prototype":{}}}',
  '{"id":"ok","parentid":7}',
  '{"id":"ok","parentid":"../x"}',
  '{"id":"ok","name":"\\n"}',
  '{"guestPath":"..","hostPath":"/","flags":4}',
  '{"guestPath":"x","hostPath":"\\u0000","flags":4}',
  '{"guestPath":"x","hostPath":"/srv","flags":1e309}',
  '{"guestPath":"x","hostPath":"/srv","flags":-4}',
  '{"guestPath":"x","hostPath":"/srv"}',
  '[['.repeat(2000),
  '{"a":'.repeat(2000),
  `{"id":"${'x'.repeat(5000)}"}`,
  'x'.repeat(70_000),
  '1'.repeat(400),
  'ON',
  'on off',
  'true\u0000',
  '\u00ef\u00bb\u00bf{}',
  '\u00ff\u00fe\u0000',
  'on&off=1',
]
const headers = [
  'Content-Length: -1',
  'Content-Length: 1e3',
  'Content-Length: 0x10',
  'Content-Length: 18446744073709551616',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: ',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
  'Transfer-Encoding: gzip, chunked, identity',
  'Transfer-Encoding: nothing',
  'Content-Type: /',
  'Content-Type: application/json; charset=utf-99',
  'Content-Type: multipart/form-data',
  'Content-Type: \u00ff\u00fe',
  'Content-Encoding: gzip',
  'Expect: something',
  'Expect: 100-continue',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
  'Connection: close, keep-alive, \u0080',
  'Range: bytes=-1',
  'Prefer: respond-async; wait=-1',
  'Last-Event-ID: 999999999999999999999',
  'Accept: */*;q=nan',
  'no colon here',
  ': no name',
  ' folded',
  'Bad Name: x',
  'X-Nul: a\u0000b',
  `X-Long: ${'y'.repeat(20_000)}`,
  Array.from({ length: 150 }, (_, at) => `X-${at}: z`).join('\r\n'),
  'Cookie: __proto__=1',
  'Accept-Version: 99',
]
const methods = [
  'get',
  'GETT',
  'HEAD',
  'PUT',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
  'G\u0001T',
  '',
  'QUERY',
]
const versions = [
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/9.9',
  'HTTP/1.0',
  'http/1.1',
  'HTTP/1.1.1',
  '',
  'FTP/1.1',
]
const pieces = [
  '%',
  '%zz',
  '%00',
  '%2e%2e%2f',
  '..%5c',
  '%c0%af',
  '%ff',
  '%u0041',
  '/..',
  '//',
  '/',
  '?view[]=full&view=x',
  '?id=%00&=&&&',
  '?__proto__[x]=1',
  '#part',
  ';x=1',
  ' ',
  '\u00e9',
  '\u0001',
  'x'.repeat(300),
  'y'.repeat(9000),
  '*',
  ':id',
  '{id}',
  'constructor',
  '__proto__',
]
/** Unusual, but still the same operation. */
const queries = [
  '?',
  '?x',
  '?view=',
  '?id=a&id=b',
  '?%00',
  '?a[b]=c',
  '?__proto__=1',
  '?=&&',
  `?${'q'.repeat(3000)}`,
]
const oddities = [
  'Content-Type: ',
  'Content-Type: text/html; charset=',
  'Accept: nothing/at-all',
  'Prefer: return=minimal, respond-async=no',
  'Last-Event-ID: -1',
  'If-Match: "x"',
  'X-HTTP-Method-Override: DELETE',
  'X-Forwarded-For: 10.83.0.2',
  'Authorization: Basic !!!',
  'Cookie: a=b; a=c; =',
]
const tails = [
  '\r\n\r\n\r\n',
  'GARBAGE\u0000\u0001',
  'GET',
  '\u0016\u0003\u0001\u0002\u0000',
  'x'.repeat(70_000),
]

const mistakes: readonly ((draft: Draft, chance: Chance) => void)[] = [
  (draft, chance) => (draft.body = pick(bodies, chance)),
  (draft, chance) => (draft.body = noise(chance)),
  (draft, chance) => draft.headers.push(pick(headers, chance)),
  (draft, chance) => (draft.method = pick(methods, chance)),
  (draft, chance) => (draft.version = pick(versions, chance)),
  (draft, chance) => {
    const at = 1 + chance(draft.path.length)
    draft.path = draft.path.slice(0, at) + pick(pieces, chance) + draft.path.slice(at)
  },
  (draft, chance) => (draft.path = pick(pieces, chance)),
  (draft, chance) => (draft.path += pick(queries, chance)),
  (draft, chance) => draft.headers.push(pick(oddities, chance)),
  (draft, chance) => (draft.tail = pick(tails, chance)),
  (draft, chance) => {
    draft.length = String(draft.body.length + 1 + chance(100_000))
    draft.isCut = true
  },
  (draft, chance) => {
    draft.headers.push('Transfer-Encoding: chunked')
    draft.length = undefined
    draft.body = pick(
      ['zz\r\n', '5\r\nab', 'ffffffffffffffffff\r\n', '-1\r\n\r\n', '0\r\nx'],
      chance,
    )
    draft.isCut = true
  },
]

/** One request derived from this operation. */
export function malform(
  [method, path, body = '']: readonly [string, string, string?],
  chance: Chance,
): Malformed {
  const draft: Draft = {
    method,
    path,
    version: 'HTTP/1.1',
    headers: ['Host: 127.0.0.1:8080'],
    body,
    length: 'right',
    tail: '',
    isCut: false,
  }
  for (let left = 1 + chance(2); left > 0; left--) pick(mistakes, chance)(draft, chance)
  const length = draft.length === 'right' ? String(draft.body.length) : draft.length
  const lines = [...draft.headers, ...(length === undefined ? [] : [`Content-Length: ${length}`])]
  const head = `${draft.method} ${draft.path} ${draft.version}\r\n${lines.join('\r\n')}\r\n\r\n`
  return {
    bytes: head + draft.body + draft.tail,
    isCut: draft.isCut,
    needsOwnConnection: draft.isCut || draft.tail !== '' || draft.headers.length > 1,
  }
}

const pick = <T>(from: readonly T[], chance: Chance): T => from[chance(from.length)] as T

const noise = (chance: Chance): string =>
  Array.from({ length: chance(200) }, () => String.fromCharCode(chance(256))).join('')
