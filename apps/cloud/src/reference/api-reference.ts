import { jsonMedia, readXml, renderElement, type Element } from '@skerry/xml'

import { ours } from '../dialect/dialect.ts'
import { statusNumber } from '../domain/vm-status.ts'
import type { CloudRoute } from '../http/route.ts'

/** A recorded request and its response. */
export interface RequestSample {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly answer: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly text: string
  }
}

/** The name of the sample in JSON. */
export const JSON_SAMPLE = 'JSON'

/** Longest excerpt of a document, in lines; the schema describes all of it. */
const LINES_MOST = 24

/** Sections of the page, by path: the first pattern that matches. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['Administration', /^\/api\/admin(?!.*query)/],
  ['Queries', /query$/],
  ['Sessions and tokens', /^\/api\/(session|versions)/],
  ['The schema', /^\/api\/v:version/],
  ['Organisations, data centres and catalogs', /^\/api\/(org|vdc|catalog|vAppTemplate|entity)/],
  ['vApps and VMs', /^\/api\/vApp/],
  ['Tasks and events', /./],
]

const order: readonly string[] = [
  'Sessions and tokens',
  'Organisations, data centres and catalogs',
  'vApps and VMs',
  'Tasks and events',
  'Queries',
  'Administration',
  'The schema',
]

const partOf = ({ path }: CloudRoute): string =>
  parts.find(([, pattern]) => pattern.test(path))?.[0] ?? ''

/** Generates docs/reference/api/cloud.md from the route table and from samples that a test recorded. */
export function apiReference(
  routes: readonly CloudRoute[],
  samples: ReadonlyMap<string, RequestSample>,
): string {
  return [
    ...opening,
    ...jsonSection(samples.get(JSON_SAMPLE)),
    ...order.flatMap((name) => {
      const own = routes.filter((route) => partOf(route) === name)
      return [`## ${name}`, '', ...own.flatMap((route) => section(route, samples.get(route.name)))]
    }),
  ].join('\n')
}

const descriptions: Readonly<Record<number, string>> = {
  400: 'the request cannot be parsed, or a value is invalid; the message says what was expected',
  401: 'the token is missing or expired; the response has `WWW-Authenticate`. `SECOND_FACTOR`: only the code of the second factor is missing',
  403: 'the role lacks the right that the message names',
  404: 'not found, or it belongs to another organisation: both responses are byte-equal',
  406: '`Accept` names no version, an unknown one, or one that is too old for this operation',
  409: 'the VM is in the wrong state, a name is taken, a quota is used up, or a key was reused with another body',
  429: 'too many wrong passwords; `Retry-After` gives the delay',
  503: 'a backend or host is unavailable, or the cloud is recovering; `Retry-After` gives the delay',
  504: 'timeout; the operation may still complete',
}

const opening: readonly string[] = [
  '# The cloud’s API',
  '',
  'Generated from the route table by `npm run reference`, with samples recorded by a test; do not edit. See also: a first session',
  'with curl in [a first cloud](../../tutorials/first-cloud.md), the query service in [query](../../design/query.md), and what each operation does',
  'on a host in [operations](../operations.md).',
  '',
  '## Conventions',
  '- Every request names its API version: `Accept: application/*+xml;version=5.1`, or 1.5. Responses have the type',
  `  \`${ours.media('X')}\` in that version, errors too, and are valid against \`/api/v1.5/schema/master.xsd\`.`,
  `- A login returns a token in the header \`${ours.tokenHeader}\`, which every later request sends; \`Authorization: Bearer\` with the token`,
  '  is the same. The cookie alone is not accepted: only the web UI, which the cloud itself serves, has its session in a cookie. A token',
  '  expires after 30 minutes without use, and after 24 hours in any case.',
  '- Documents link the actions that this user may take now: a client looks for a `rel` instead of constructing addresses.',
  '- Long operations return 202 with a Task and its `Location`, or 201 with the resource being created and its task. Operations on a',
  '  busy VM are queued.',
  '- `Idempotency-Key`, or the attribute `operationKey`, makes a request safe to repeat: it returns the same task again.',
  `- Documents give the status of a VM as a number, the query service as a word: ${statuses()}; a vApp whose VMs differ is 10, MIXED.`,
  '- A body is parsed as the type that the operation takes, regardless of `Content-Type`.',
  '',
  '| Status | `minorErrorCode` | Meaning |',
  '|---|---|---|',
  ...Object.entries(descriptions).map(
    ([status, text]) => `| ${status} | ${codesOf(status)} | ${text} |`,
  ),
  '',
]

/** Why it is so: docs/design/decisions/0007. */
function jsonSection(sample: RequestSample | undefined): string[] {
  const { media } = ours
  return [
    '## JSON',
    '',
    'Every document exists in JSON too, and every body may be JSON. [openapi.json](cloud.openapi.json), which a cell serves at',
    '`/api/openapi.json` without credentials, describes all of it in OpenAPI 3.1 for generators of clients. See also',
    '[JSON with curl and jq](../../guides/json.md).',
    '',
    `- \`Accept: application/*+json;version=5.1\` returns \`${jsonMedia(media('X'))};version=5.1\`. \`Accept: application/json\` returns`,
    '  `application/json`, in version 5.1 if it names no other. Anything else returns XML. Errors have the same format.',
    '- An attribute or child element is a key: its name without prefix, beginning with a small letter: `NumberOfCpus` is `numberOfCpus`,',
    '  `MACAddress` is `macAddress`, `VMRecord` is `vmRecord`.',
    '- An element that may occur more than once is an array, also if there is one or none.',
    '- Integers are numbers, booleans are `true` and `false`, all else are strings. Text beside attributes is `value`. `xsi:type` is `kind`. An element with `xsi:nil` is `null`.',
    '- A media type in a document ends in `+json`.',
    '- A body is JSON if it begins with `{`, or if its `Content-Type` is JSON and it does not begin with `<`. A key that the document does not have, a key that occurs twice and a',
    '  value of another type are 400; the message names the place, such as `$.source.href`, and the keys that exist there.',
    '- `operationKey` is a key of the document. A request that is repeated in the other format is another request.',
    '',
    ...(sample ? [...block(requested('POST', sample)), ...block(answered(sample))] : []),
  ]
}

function statuses(): string {
  const words = Object.entries(statusNumber).toSorted(([, a], [, b]) => a - b)
  return words.map(([word, number]) => `${number} ${word}`).join(', ')
}

/** The first code of a status, which clients see; further codes occur only between our own processes. */
function codesOf(status: string): string {
  const first = Object.values(ours.refusals).find((each) => String(each.status) === status)
  return `\`${first?.code}\``
}

function section(route: CloudRoute, sample: RequestSample | undefined): string[] {
  const { name, method, path, permission, since, takes, doc } = route
  const needs: Partial<Record<typeof permission, string>> = {
    anyone: 'without credentials',
    login: 'with Basic credentials',
    session: 'with any token',
  }
  const facts = [
    `\`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``,
    needs[permission] ?? `needs the right \`${permission}\``,
    ...(since === undefined ? [] : [`since version ${since}`]),
    ...(takes ? [`takes ${shapeOf(takes.shape)}`] : []),
  ]
  return [
    `### ${name}`,
    '',
    `${facts.join(', ')}.`,
    doc,
    '',
    ...(sample ? [...block(requested(method, sample)), ...block(answered(sample))] : []),
  ]
}

const shapeOf = (shape: object | string): string =>
  typeof shape === 'string' ? `\`${shape}\`` : 'a body'

const block = (lines: readonly string[]): string[] => ['```http', ...lines, '```', '']

const written = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

const requested = (method: string, { path, headers, body }: RequestSample): string[] => [
  `${method} ${path} HTTP/1.1`,
  ...written(headers),
  ...(body === undefined || body === '' ? [] : ['', ...short(document(body))]),
]

function answered({ answer: { status, headers, text } }: RequestSample): string[] {
  const body = text === '' ? [] : ['', ...short(document(text))]
  return [`HTTP/1.1 ${status}`, ...written(headers), ...body]
}

const short = (lines: readonly string[]): readonly string[] =>
  lines.length <= LINES_MOST ? lines : [...lines.slice(0, LINES_MOST - 1), '  …']

/** XML as one line for each element, JSON as one for each key; other text as it is. */
function document(text: string): readonly string[] {
  if (text.startsWith('{"')) return JSON.stringify(JSON.parse(text), undefined, 2).split('\n')
  return text.trimStart().startsWith('<') && !/<(xs:)?schema/.test(text)
    ? indented(readXml(text), '')
    : text.trimEnd().split('\n')
}

function indented(node: Element, before: string): string[] {
  const inside = node.children.filter((each) => typeof each !== 'string')
  if (inside.length === 0) return [before + renderElement(node)]
  const alone = renderElement({ ...node, children: [] }).replace(/\/>$/, '>')
  return [
    before + alone,
    ...inside.flatMap((each) => indented(each, `${before}  `)),
    `${before}</${node.name}>`,
  ]
}
