import type { TSchema } from '@skerry/schema'

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

/** Generates docs/reference/workflow-functions.md from the function table. */
export function functionsReference(): string {
  return [
    '# Workflow functions',
    '',
    'Generated from `apps/workflow/src/functions/functions.ts` by `npm run reference`; do not edit by hand. A definition calls a function',
    'with `call: skerry.vm.powerOn` and its input under `with`. A function acts on behalf of the user who started the run, waits until',
    'the cloud has finished the task, and takes effect once, even if the run is resumed. A rejected call raises an error for `try`:',
    '`validation` (400), `authentication` (401: the run is no longer authorized), `authorization` (403), `timeout` (408), and otherwise',
    '`communication` with the status of the cloud’s response: 404 for a missing resource, 409 for a wrong state.',
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
        `| ${field}${required.includes(field) ? '' : ' (optional)'} | ${typeOf(shape)} | ${shape.description ?? ''} |`,
    ),
    '',
    `Returns ${typeOf(output)}.`,
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
