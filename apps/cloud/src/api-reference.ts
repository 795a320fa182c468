import { readXml, renderElement, type Element } from '@skerry/xml'

import { ours } from './http/dialect.ts'
import type { CloudRoute } from './route.ts'
import { statusNumber } from './vm-status.ts'

/** A request that was sent, and its answer. */
export interface Sample {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly answer: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly text: string
  }
}

/** A document is shown so far: all of it is in the schema. */
const LINES_MOST = 24

/** What stands together, by the path: the first that fits. */
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
  ...['Sessions and tokens', 'Organisations, data centres and catalogs', 'vApps and VMs'],
  ...['Tasks and events', 'Queries', 'Administration', 'The schema'],
]

const partOf = ({ path }: CloudRoute): string =>
  parts.find(([, pattern]) => pattern.test(path))?.[0] ?? ''

/** docs/api/cloud.md, made of the table of routes and of samples that a test has recorded. */
export function apiReference(
  routes: readonly CloudRoute[],
  samples: ReadonlyMap<string, Sample>,
): string {
  return [
    ...opening,
    ...order.flatMap((name) => {
      const own = routes.filter((route) => partOf(route) === name)
      return [`## ${name}`, '', ...own.flatMap((route) => section(route, samples.get(route.name)))]
    }),
  ].join('\n')
}

const told: Readonly<Record<number, string>> = {
  400: 'the request cannot be read, or a value is not legal; the message says what was expected',
  401: 'no token, or one that is over; `WWW-Authenticate` comes with it',
  403: 'the role lacks the right that the message names',
  404: 'there is no such thing, or it is another organisation’s: the answers are the same, byte for byte',
  406: 'no version in `Accept`, one that there is not, or one that is too old for this',
  409: 'the VM is in the wrong state, a name is taken, a quota is used up, or a key came with another body',
  429: 'too many wrong passwords; `Retry-After` says for how long',
  503: 'something is away, or the cloud recovers; `Retry-After` says when to ask again',
  504: 'it took too long; what was asked may still happen',
}

const opening: readonly string[] = [
  '# The cloud’s API',
  '',
  'Made of the table of routes by `npm run reference`, with samples that a test has recorded; not edited by hand. A first',
  'session with curl is in [a first cloud](../tasks/first-cloud.md), the query service in [query](../query.md), what each',
  'operation does on a host in [operations](../reference/operations.md).',
  '',
  '## What holds everywhere',
  '- Every request says which version it speaks: `Accept: application/*+xml;version=5.1`, or 1.5. Answers come as',
  `  \`${ours.media('X')}\` in that version, errors too, and are valid against \`/api/v1.5/schema/master.xsd\`.`,
  `- A login answers with a token in the header \`${ours.tokenHeader}\`, which every later request sends. The cookie alone`,
  '  lets nobody in. A token that is not used for 30 minutes is over, and each after a day.',
  '- Documents link what may be done now, by this user: a client looks for a `rel` instead of gluing addresses.',
  '- Whatever takes time answers 202 with a Task and its `Location`, or 201 with what is being made and its task. A VM that is busy',
  '  queues what it is asked.',
  '- `Idempotency-Key`, or the attribute `operationKey`, makes a request safe to send again: it is the same task then.',
  `- A document says the status of a VM as a number, the query service as a word: ${statuses()}; a vApp whose VMs differ is 10, MIXED.`,
  '- A body is read as what the operation takes, whatever `Content-Type` says.',
  '',
  '| Status | `minorErrorCode` | Means |',
  '|---|---|---|',
  ...Object.entries(told).map(([status, text]) => `| ${status} | ${codesOf(status)} | ${text} |`),
  '',
]

function statuses(): string {
  const words = Object.entries(statusNumber).toSorted(([, a], [, b]) => a - b)
  return words.map(([word, number]) => `${number} ${word}`).join(', ')
}

/** Those that are told to clients; the others are between our own processes. */
function codesOf(status: string): string {
  const first = Object.values(ours.refusals).find((each) => String(each.status) === status)
  return `\`${first?.code}\``
}

function section(route: CloudRoute, sample: Sample | undefined): string[] {
  const { name, method, path, permission, since, takes, doc } = route
  const needs: Partial<Record<typeof permission, string>> = {
    ...{ anyone: 'for anybody', login: 'with Basic credentials', session: 'with any token' },
  }
  const facts = [
    `\`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``,
    needs[permission] ?? `needs the right \`${permission}\``,
    ...(since === undefined ? [] : [`from version ${since} on`]),
    ...(takes ? [`takes ${shapeOf(takes.shape)}`] : []),
  ]
  return [
    `### ${name}`,
    '',
    `${facts.join(', ')}.`,
    doc,
    '',
    ...(sample ? [...block(asked(method, sample)), ...block(answered(sample))] : []),
  ]
}

const shapeOf = (shape: object | string): string =>
  typeof shape === 'string' ? `\`${shape}\`` : 'a body'

const block = (lines: readonly string[]): string[] => ['```http', ...lines, '```', '']

const written = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

const asked = (method: string, { path, headers, body }: Sample): string[] => [
  `${method} ${path} HTTP/1.1`,
  ...written(headers),
  ...(body === undefined || body === '' ? [] : ['', ...short(document(body))]),
]

function answered({ answer: { status, headers, text } }: Sample): string[] {
  const body = text === '' ? [] : ['', ...short(document(text))]
  return [`HTTP/1.1 ${status}`, ...written(headers), ...body]
}

const short = (lines: readonly string[]): readonly string[] =>
  lines.length <= LINES_MOST ? lines : [...lines.slice(0, LINES_MOST - 1), '  …']

/** XML with a line for each element; anything else as it is. */
function document(text: string): readonly string[] {
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
