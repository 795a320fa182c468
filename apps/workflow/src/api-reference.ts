import { httpStatus } from '@skerry/fault'

import { media } from './http/wants.ts'
import { rights, permissions } from './identity/rights.ts'
import { offersOf, type WorkflowRoute } from './route.ts'

/** What stands together, by the path: the first that fits. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['Pages for people', /^\/($|workflows|pages)/],
  ['Schedules', /^\/api\/schedules|\/tasks$/],
  ['What runs ask of people', /interaction|UserInteraction/i],
  ['Runs', /\/executions/],
  ['Folders', /categories|WorkflowCategory/],
  ['Workflows', /^\/api\/(workflows|catalog|inventory|content)/],
  ['The server', /./],
]

const order: readonly string[] = [
  ...['The server', 'Workflows', 'Runs', 'What runs ask of people', 'Schedules', 'Folders'],
  'Pages for people',
]

const partOf = ({ path }: WorkflowRoute): string =>
  parts.find(([, pattern]) => pattern.test(path))?.[0] ?? ''

const told: Readonly<Record<number, string>> = {
  400: 'the request cannot be read, inputs do not fit, or a definition is wrong: the message says what and where',
  401: 'no credentials, wrong ones, or of somebody who may not come in; `WWW-Authenticate` comes with it',
  403: 'the role lacks the right that the message names',
  404: 'there is no such thing, or it is another organisation’s: the answers are the same, byte for byte',
  406: '`Accept` asks for nothing that this can come as',
  409: 'it is there already, is in use, has ended, or was answered by somebody else',
  429: 'too many wrong passwords, or too many runs of an organisation; `Retry-After` says for how long',
  503: 'the engine that runs workflows, the cloud or the database is away; `Retry-After` says when to ask again',
}

const opening: readonly string[] = [
  '# The workflow server’s API',
  '',
  'Made of the table of routes by `npm run reference`; not edited by hand. The language of workflows is in',
  '[the subset that is run](../reference/workflow-subset.md).',
  '',
  '## What holds everywhere',
  '- HTTPS, port 8281. Every request carries Basic credentials of a user of the cloud, `user@organisation`; nothing is logged in.',
  '  They are checked by the cloud, remembered as a keyed hash for a minute, and forgotten within a second of any change.',
  '- Answers come as XML (namespace `urn:skerry:workflow`), or as JSON with `Accept: application/json`. So do errors, always.',
  '- `/vco/api/…` is the same as `/api/…`. A slash at the end of an address changes nothing.',
  '- Bodies are XML or JSON, whichever they are; `Content-Type` is not looked at, except for forms.',
  '- Lists and exports are answered while the engine that runs workflows is away.',
  '- A page of another origin changes nothing: such a request is refused.',
  '',
  '```console',
  '$ curl --user alice@blue:PASSWORD https://workflow.example:8281/api/workflows',
  '$ curl --user alice@blue:PASSWORD -H "Accept: application/zip" -OJ https://workflow.example:8281/api/workflows/{id}',
  '$ curl --user alice@blue:PASSWORD -F file=@nightly.workflow "https://workflow.example:8281/api/workflows?overwrite=true"',
  '$ curl --user alice@blue:PASSWORD -d \'{"input": {"name": "John"}}\' https://workflow.example:8281/api/workflows/{id}/executions',
  '```',
  '',
]

/** docs/api/workflow.md, made of the table of routes. */
export function apiReference(routes: readonly WorkflowRoute[]): string {
  return [
    ...opening,
    ...rolesTable(),
    '| Status | `code` | Means |',
    '|---|---|---|',
    ...Object.entries(told).map(([status, text]) => `| ${status} | ${codeOf(status)} | ${text} |`),
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
  const needs = permission === 'anyone' ? 'for anybody' : `needs the right \`${permission}\``
  const words = Object.keys(query?.properties ?? {}).map((each) => `\`${each}\``)
  const facts = [
    `\`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``,
    needs,
    ...(takes ? [`takes ${shapeOf(takes.shape)}`] : []),
    `answers ${Object.keys(route.answers).join(' or ')}`,
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
