// Every response in JSON that a test receives has the form that the OpenAPI document describes.
import assert from 'node:assert/strict'

import { Compile, type Validator } from '@skerry/schema'

import { documentSchemas } from '../src/documents/schemas.ts'
import { routes } from '../src/routes.ts'

/** Only test files are checked: benchmarks use the same client and must not be slowed down. */
const watched = /\.(test|slow)\.ts$/.test(process.argv[1] ?? '')

const compiled = new Map<string, Validator>()

function validatorOf(document: string): Validator {
  const known = compiled.get(document)
  if (known) return known
  const made = Compile(documentSchemas[document] ?? assert.fail(`no schema of ${document}`))
  compiled.set(document, made)
  return made
}

function routeAt(method: string, path: string) {
  const parts = (path.split('?')[0] ?? '')
    .replace(/^\/vco/, '')
    .replace(/(?<=.)\/$/, '')
    .split('/')
  const fitting = routes.filter((row) => {
    const wanted = row.path.split('/')
    const fits = wanted.every((part, at) => part.startsWith(':') || part === parts[at])
    return row.method === method && wanted.length === parts.length && fits
  })
  // A path without parameters comes before one with them.
  return fitting.toSorted((a, b) => a.path.split(':').length - b.path.split(':').length)[0]
}

export function holdToOpenApi(
  requested: { readonly method: string; readonly path: string },
  answer: { readonly status: number; readonly type: string | undefined; readonly text: string },
): void {
  const { status, type = '', text } = answer
  if (!watched || !type.startsWith('application/json') || text === '') return
  const { method, path } = requested
  const row = routeAt(method, path)
  const said = row?.answers[status]
  if (said === 'openapi' || (said === undefined && status < 400)) return
  const document = typeof said === 'string' ? said : 'error'
  const validator = validatorOf(document)
  const value: unknown = JSON.parse(text)
  if (validator.Check(value)) return
  const errors = JSON.stringify(validator.Errors(value).slice(0, 3))
  assert.fail(`${method} ${path}: ${status} is not ${document}: ${errors}\n${text.slice(0, 2000)}`)
}
