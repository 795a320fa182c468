import type { TSchema } from 'typebox'

import type { CloudFunction } from './function.ts'
import { functions } from './functions.ts'

type Shape = TSchema & {
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly const?: string
  readonly items?: Shape
}

/** docs/reference/workflow-functions.md, made of the table that runs call. */
export function functionsReference(): string {
  return [
    '# Functions of workflows',
    '',
    'Made of `apps/workflow/src/worker/functions.ts` by `npm run reference`; not edited by hand. A definition calls one as',
    '`call: skerry.vm.powerOn` with its input below `with`. Each is done in the name of who started the run, waits until the cloud has',
    'done it, and takes effect once, however often the run is gone on with. One that is refused raises an error that `try` can catch:',
    '`validation` (400), `authentication` (401: the run may not act any more), `authorization` (403), `timeout` (408), and for all else',
    '`communication` with the status of the cloud’s answer: 404 for what is not there, 409 for what is in another state.',
    '',
    ...Object.entries(functions).flatMap(([name, row]) => section(name, row)),
  ].join('\n')
}

function section(name: string, { doc, input, output }: CloudFunction): string[] {
  const { properties = {}, required = [] } = input as Shape
  return [
    `## ${name}`,
    '',
    doc,
    '',
    '| Input | Type | |',
    '|---|---|---|',
    ...Object.entries(properties).map(
      ([field, shape]) =>
        `| ${field}${required.includes(field) ? '' : ' (may be missing)'} | ${typeOf(shape)} | ${shape.description ?? ''} |`,
    ),
    '',
    `Answers ${typeOf(output)}.`,
    '',
  ]
}

function typeOf(shape: Shape): string {
  if (shape.anyOf) return shape.anyOf.map(typeOf).join(' or ')
  if (shape.const !== undefined) return `\`${shape.const}\``
  if (shape.type === 'array') return `a list of ${typeOf(shape.items as Shape)}`
  if (shape.type === 'object' && shape.properties) {
    return `{ ${Object.keys(shape.properties).join(', ')} }`
  }
  return shape.type === 'object' ? 'values by name' : (shape.type ?? 'anything')
}
