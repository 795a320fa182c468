// Requests derived from valid ones, with one to three errors: the same ones for the same seed. Bytes are latin1 text.
import { broken, noise, pick, type Chance } from './malformed-xml.ts'

export interface Draft {
  method: string
  path: string
  version: string
  headers: [string, string][]
  body: string
  /** The value of Content-Length; undefined: no such header. */
  length: string | undefined
  /** Bytes after the request. */
  tail: string
  /** It announces more bytes than it sends. */
  isCut: boolean
}

export interface Malformed {
  readonly bytes: string
  readonly isCut: boolean
  /** Bytes after its response do not belong to the next request. */
  readonly needsOwnConnection: boolean
  readonly method: string
}

type Mistake = (draft: Draft, chance: Chance) => void

/** Replacements for the value of a header, of the query or of an id. */
const values = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '0x10',
  'NaN',
  '99999999999999999999',
  "' or 1=1 --",
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '%00',
  '%01%02',
  '%ff%fe',
  '%ed%a0%80',
  '%ef%bf%be',
  '%zz',
  '%',
  '%2500',
  '\u00ff\u00fe',
  '*',
  '**',
  '\\',
  '(((((',
  'x'.repeat(2000),
  'urn:skerry:vm:',
  'urn:skerry:vm:01980000-0000-7000-8000-00000000abcd',
  'vm-01980000-0000-7000-8000-00000000ABCD',
  '${jndi:ldap://127.0.0.1/a}',
]
const filters = [
  'name==',
  '==x',
  'name=gt=%00',
  'name==%01',
  'status==POWERED_ON;',
  '(name==a',
  'name==a)',
  'name==**',
  'name==%5C',
  'numberOfCpus==abc',
  'numberOfCpus=gt=99999999999999999999',
  'memoryMB==-1e999',
  'dateCreated=lt=0000-00-00',
  'dateCreated=lt=99999-01-01T00:00:00Z',
  'vdc==https://x/%00',
  'nothing==1',
  'name==' + 'a*'.repeat(500),
  '('.repeat(300) + 'name==a' + ')'.repeat(300),
  Array.from({ length: 300 }, () => 'name==a').join(','),
  'name==a%2Cb%3Bc',
  'name==%ff',
]
const parameters = [
  'type',
  'filter',
  'fields',
  'page',
  'pageSize',
  'format',
  'sortAsc',
  'after',
].concat('sortDesc', 'filterEncoded', 'operationKey')

const headers: readonly (readonly [string, string])[] = [
  ['Content-Length', '-1'],
  ['Content-Length', '1e3'],
  ['Content-Length', '18446744073709551616'],
  ['Content-Length', '5'],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', 'nothing'],
  ['Content-Type', '/'],
  ['Content-Type', ''],
  ['Content-Type', 'application/xml; charset=utf-99'],
  ['Content-Type', 'application/xml; charset=utf-16'],
  ['Content-Type', '\u00ff'],
  ['Content-Encoding', 'gzip'],
  ['Expect', 'something'],
  ['Expect', '100-continue'],
  ['Upgrade', 'h2c'],
  ['Connection', 'close, keep-alive, \u0080'],
  ['Connection', 'Upgrade'],
  ['Range', 'bytes=-1'],
  ['Last-Event-ID', '999999999999999999999-1'],
  ['Last-Event-ID', '0-99999999999999999999'],
  ['Last-Event-ID', '-1'],
  ['Last-Event-ID', '18446744073709551615-9223372036854775807'],
  ['Accept', '*/*;q=nan'],
  ['Accept', 'application/*+xml;version='],
  ['Accept', 'application/*+xml;version=9.9'],
  ['Accept', 'application/*+xml;version=1.5'],
  ['Accept', 'x'.repeat(9000)],
  ['Idempotency-Key', ''],
  ['Idempotency-Key', 'k'.repeat(300)],
  ['Idempotency-Key', '\u00ff\u0080'],
  ['Idempotency-Key', "' --"],
  ['x-cloud-authorization', ''],
  ['x-cloud-authorization', 'skat_'],
  ['x-cloud-authorization', 'z'.repeat(9000)],
  ['x-cloud-authorization', '\u00ff\u00fe'],
  ['Cookie', '__proto__=1; cloud-token=x; ='],
  ['Authorization', 'Bearer x'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-For', '10.0.0.1'],
  ['Host', 'a b'],
  ['Host', ''],
  ['X-Nul', 'a\u0000b'],
  ['X-Long', 'y'.repeat(20_000)],
  ['Bad Name', 'x'],
  ['', 'no name'],
]
const basics = [
  'x',
  ':',
  '@:',
  'a@b:',
  '@eng:secret',
  'alice:secret',
  'al\u0000ice@eng:secret',
  'alice@e\u0000ng:secret',
  'alice@eng:sec\u0000ret',
  'alice@eng:\u00ff\u00fe',
  'alice@eng@eng:x',
  "' or 1=1--@eng:x",
  `alice@eng:${'p'.repeat(7000)}`,
  'alice@eng:wrong',
]
const methods = [
  'get',
  'GETT',
  'HEAD',
  'PUT',
  'POST',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
].concat('PROPFIND', 'M-SEARCH', 'G\u0001T', '', 'QUERY', 'CONNECT')
const versions = ['HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.0', 'http/1.1', '', 'FTP/1.1']
const pieces = [
  '%',
  '%zz',
  '%00',
  '%2e%2e%2f',
  '..%5c',
  '%c0%af',
  '%ff',
  '/..',
  '//',
  '/',
  '#x',
].concat(';x=1', ' ', '\u00e9', '\u0001', 'x'.repeat(1500), '*', ':id', '?', '?__proto__[x]=1')
const tails = [
  '\r\n\r\n\r\n',
  'GARBAGE\u0000\u0001',
  'GET',
  '\u0016\u0003\u0001',
  'x'.repeat(70_000),
]

/** Unusual, but still the same request. */
const oddities: readonly (readonly [string, string])[] = [
  ['Accept-Encoding', 'gzip;q=nan, *;q=-1'],
  ['Accept-Language', 'x'.repeat(500)],
  ['Cookie', 'a=b; a=c; =; cloud-token'],
  ['Cookie', '__proto__=1'],
  ['If-Match', '"x'],
  ['If-Modified-Since', 'yesterday'],
  ['Range', 'bytes=9-1,-'],
  ['Last-Event-ID', '-'],
  ['Origin', 'null'],
  ['Referer', '\u00ff'],
  ['X-Forwarded-For', "' or 1=1"],
  ['X-Forwarded-Host', 'elsewhere.example'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Idempotency-Key', '${7*7}'],
  ['Idempotency-Key', '\u00e9'],
  ['Content-Type', 'application/vnd.skerry.cloud.\u00e9+xml'],
  ['Content-Type', 'text/plain; version=9.9; version=1'],
  ['Authorization', 'Basic !!!'],
]
const mild: readonly Mistake[] = [
  (draft, chance) => {
    const [name, value] = pick(oddities, chance)
    draft.headers = draft.headers.filter(([each]) => each !== name)
    draft.headers.push([name, value])
  },
  (draft, chance) => {
    const join = draft.path.includes('?') ? '&' : '?'
    draft.path += `${join}${pick(['x', '=', '&&', 'a[b]=c', '__proto__=1', 'operationKey=%00', 'operationKey=k'], chance)}`
  },
  (draft) => (draft.path += draft.path.includes('?') ? '&' : '/'),
]

const encoded = (text: string): string => Buffer.from(text, 'latin1').toString('base64')

function setParameter(draft: Draft, chance: Chance): void {
  const name = pick(parameters, chance)
  const value = name === 'filter' ? pick(filters, chance) : pick(values, chance)
  const [path = '', query = ''] = draft.path.split('?')
  const kept = query.split('&').filter((each) => chance(3) > 0 || !each.startsWith(`${name}=`))
  draft.path = `${path}?${[...kept, `${name}=${value.replaceAll(' ', '+')}`].join('&')}`
}

/** Replaces one segment of the path. */
function setSegment(draft: Draft, chance: Chance): void {
  const [path = '', query] = draft.path.split('?')
  const segments = path.split('/')
  const at = 1 + chance(Math.max(1, segments.length - 1))
  segments[at] = pick(
    [...values, segments[at]?.toUpperCase() ?? '', segments[at]?.slice(0, -1) ?? ''],
    chance,
  )
  draft.path = segments.join('/') + (query === undefined ? '' : `?${query}`)
}

const plain: readonly Mistake[] = [
  (draft, chance) => draft.headers.push([...pick(headers, chance)]),
  (draft, chance) => {
    const [name, value] = pick(headers, chance)
    draft.headers = draft.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase())
    draft.headers.push([name, value])
  },
  // The same header twice, with the same value or another.
  (draft, chance) => {
    const [name, value] = pick(draft.headers, chance)
    draft.headers.push([name, chance(2) ? value : pick(values, chance)])
  },
  (draft, chance) => void draft.headers.splice(chance(draft.headers.length), 1),
  (draft, chance) => (draft.method = pick(methods, chance)),
  (draft, chance) => (draft.version = pick(versions, chance)),
  (draft, chance) => {
    const at = 1 + chance(draft.path.length)
    draft.path = draft.path.slice(0, at) + pick(pieces, chance) + draft.path.slice(at)
  },
  setSegment,
  setSegment,
  setParameter,
  (draft, chance) => (draft.tail = pick(tails, chance)),
  (draft, chance) => {
    draft.length = String(draft.body.length + 1 + chance(100_000))
    draft.isCut = true
  },
  (draft, chance) => {
    draft.headers.push(['Transfer-Encoding', 'chunked'])
    draft.length = undefined
    draft.body = pick(
      ['zz\r\n', '5\r\nab', 'ffffffffffffffffff\r\n', '-1\r\n\r\n', '0\r\nx'],
      chance,
    )
    draft.isCut = true
  },
]
const ofBody: readonly Mistake[] = [
  (draft, chance) => (draft.body = broken(draft.body, chance)),
  (draft, chance) => (draft.body = broken(broken(draft.body, chance), chance)),
  (draft, chance) => (draft.body = noise(chance)),
]
const ofLogin: Mistake = (draft, chance) => {
  draft.headers = draft.headers.filter(([name]) => name !== 'Authorization')
  const said = pick(basics, chance)
  draft.headers.push(['Authorization', `Basic ${chance(5) ? encoded(said) : said}`])
}

export function malform(rightful: Draft, kind: string, chance: Chance): Malformed {
  const draft: Draft = structuredClone(rightful)
  const fitting = [
    ...plain,
    ...Array.from({ length: 4 }, () => mild).flat(),
    // The variants that reach furthest into our own code are used most often.
    ...(draft.body === '' ? [] : Array.from({ length: 5 }, () => ofBody).flat()),
    ...(kind === 'query' ? Array.from({ length: 12 }, () => setParameter) : []),
    ...(kind === 'login' ? Array.from({ length: 20 }, () => ofLogin) : []),
  ]
  for (let left = 1 + chance(3) - chance(2); left > 0; left -= 1)
    pick(fitting, chance)(draft, chance)
  return written(draft)
}

export function written(draft: Draft): Malformed {
  const length = draft.length === 'right' ? String(draft.body.length) : draft.length
  const lines = draft.headers.map(([name, value]) => `${name}: ${value}`)
  if (length !== undefined) lines.push(`Content-Length: ${length}`)
  const head = `${draft.method} ${draft.path} ${draft.version}\r\n${lines.join('\r\n')}\r\n\r\n`
  const odd = draft.headers.some(([name]) =>
    /^(content-length|transfer-encoding|connection|upgrade|expect)$/i.test(name),
  )
  return {
    bytes: head + draft.body + draft.tail,
    isCut: draft.isCut,
    needsOwnConnection: draft.isCut || odd || draft.tail !== '' || draft.version !== 'HTTP/1.1',
    method: draft.method,
  }
}
