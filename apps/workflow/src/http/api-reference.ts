import { httpStatus } from '@skerry/fault'

import { rights, permissions } from '../identity/rights.ts'
import { offersOf, type WorkflowRoute } from './route.ts'
import { media } from './wants.ts'

/** Sections of the reference, by path; the first match wins. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['Web pages', /^\/($|workflows|pages)/],
  ['Schedules', /^\/api\/schedules|\/tasks$/],
  ['User interactions', /interaction|UserInteraction/i],
  ['Runs', /\/executions/],
  ['Folders', /categories|WorkflowCategory/],
  ['Workflows', /^\/api\/(workflows|catalog|inventory|content)/],
  ['The server', /./],
]

const order: readonly string[] = [
  'The server',
  'Workflows',
  'Runs',
  'User interactions',
  'Schedules',
  'Folders',
  'Web pages',
]

const partOf = ({ path }: WorkflowRoute): string =>
  parts.find(([, pattern]) => pattern.test(path))?.[0] ?? ''

const descriptions: Readonly<Record<number, string>> = {
  400: 'the request is malformed, the inputs do not match the form, or a definition is invalid; the message gives the place and the reason',
  401: 'missing or wrong credentials, or a user without access; sent with `WWW-Authenticate`',
  403: 'the role lacks the right named in the message',
  404: 'not found, or owned by another organisation; both responses are byte-identical',
  406: 'none of the formats in `Accept` is available',
  409: 'it exists already, is in use, has ended, or was answered by another user',
  429: 'too many wrong passwords, or too many runs of the organisation; `Retry-After` gives the delay',
  503: 'Temporal, the cloud or the database is unavailable; `Retry-After` gives the delay',
}

const opening: readonly string[] = [
  '# The workflow server’s API',
  '',
  'Generated from the route table by `npm run reference`; do not edit by hand. The workflow language is described in',
  '[the supported subset](../workflow-subset.md).',
  '',
  '## General rules',
  '- HTTPS, port 8281. Every request carries Basic credentials of a user of the cloud, `user@organisation`; there are no sessions.',
  '  The cloud checks them; the server caches them as a keyed hash for one minute and drops them within a second of any change.',
  '- Responses are XML (namespace `urn:skerry:workflow`), or JSON with `Accept: application/json`. Errors too.',
  '- `GET /api/openapi.json` describes the JSON of all of it in OpenAPI 3.1, without credentials: [workflow.openapi.json](workflow.openapi.json).',
  '- `/vco/api/…` is an alias of `/api/…`. A trailing slash is ignored.',
  '- Bodies are XML or JSON, detected by content; `Content-Type` is ignored, except for forms.',
  '- Lists and exports work while Temporal is unavailable.',
  '- Requests that change data are rejected if they come from a page of another origin.',
  '',
  '```console',
  '$ curl --user alice@blue:PASSWORD https://workflow.example:8281/api/workflows',
  '$ curl --user alice@blue:PASSWORD -H "Accept: application/zip" -OJ https://workflow.example:8281/api/workflows/{id}',
  '$ curl --user alice@blue:PASSWORD -F file=@nightly.workflow "https://workflow.example:8281/api/workflows?overwrite=true"',
  '$ curl --user alice@blue:PASSWORD -d \'{"input": {"name": "John"}}\' https://workflow.example:8281/api/workflows/{id}/executions',
  '```',
  '',
]

/** Generates docs/reference/api/workflow.md from the route table. */
export function apiReference(routes: readonly WorkflowRoute[]): string {
  return [
    ...opening,
    ...rolesTable(),
    '| Status | `code` | Means |',
    '|---|---|---|',
    ...Object.entries(descriptions).map(
      ([status, text]) => `| ${status} | ${codeOf(status)} | ${text} |`,
    ),
    '',
    ...order.flatMap((name) => [
      `## ${name}`,
      '',
      ...routes.filter((route) => partOf(route) === name).flatMap(section),
    ]),
  ].join('\n')
}

function rolesTable(): string[] {
  const shown = permissions.filter((each) => each !== 'anyone')
  return [
    `| Role of the cloud | ${shown.map((each) => each.replace('workflow:', '')).join(' | ')} |`,
    `|---|${shown.map(() => '---|').join('')}`,
    ...Object.entries(rights).map(([role, allowed]) => {
      const has: readonly string[] = allowed
      return `| ${role} | ${shown.map((each) => (has.includes(each) ? 'yes' : '')).join(' | ')} |`
    }),
    '',
  ]
}

function codeOf(status: string): string {
  const [first = ''] = Object.entries(httpStatus).find(([, each]) => String(each) === status) ?? []
  return `\`${first}\``
}

function section(route: WorkflowRoute): string[] {
  const { name, method, path, permission, takes, doc, query } = route
  const formats = offersOf(route).map((each) => `\`${media[each]}\``)
  const needs = permission === 'anyone' ? 'no right needed' : `needs the right \`${permission}\``
  const words = Object.keys(query?.properties ?? {}).map((each) => `\`${each}\``)
  const facts = [
    `\`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``,
    needs,
    ...(takes ? [`takes ${shapeOf(takes.shape)}`] : []),
    `returns ${Object.keys(route.answers).join(' or ')}`,
    `as ${formats.join(' or ')}`,
  ]
  return [
    `### ${name}`,
    '',
    `${facts.join(', ')}.`,
    doc,
    ...(words.length > 0 ? [`Parameters: ${words.join(', ')}.`] : []),
    '',
  ]
}

const shapeOf = (shape: object | string): string => {
  if (typeof shape !== 'string') return 'a body'
  return shape.includes(' ') ? shape : `\`${shape}\``
}
