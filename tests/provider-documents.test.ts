// Goal: the provider for OpenTofu, whose client is written by hand, uses the documents as the API has them. Method: the properties of
// every Go struct with JSON names are compared with the schemas of the OpenAPI document.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const CLIENT = join(root, 'clients/terraform')

interface OpenApi {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>
  }
}

const { components } = JSON.parse(
  readFileSync(join(root, 'docs/reference/api/cloud.openapi.json'), 'utf8'),
) as OpenApi
const schemas = Object.values(components.schemas).map(
  ({ properties = {} }) => new Set(Object.keys(properties)),
)

/** The JSON names of every struct, also of those without a name. Their form is that of gofmt. */
function structsOf(source: string): ReadonlySet<string>[] {
  const open: Set<string>[] = []
  const closed: Set<string>[] = []
  for (const line of source.split('\n')) {
    if (open.length > 0 && /^\s*\}/.test(line)) closed.push(open.pop() ?? new Set())
    const [, name] = /`json:"(\w+)/.exec(line) ?? []
    if (name !== undefined) open.at(-1)?.add(name)
    if (/\bstruct \{$/.test(line)) open.push(new Set())
  }
  return closed.filter(({ size }) => size > 0)
}

const found = globSync('internal/**/*.go', { cwd: CLIENT }).flatMap((file) =>
  structsOf(readFileSync(join(CLIENT, file), 'utf8')).map((names) => ({ file, names })),
)

test('every document of the provider is part of one of the API', () => {
  assert.ok(found.length > 40, `${found.length} structs`)
  const wrong = found.filter(({ names }) => !schemas.some((schema) => names.isSubsetOf(schema)))
  assert.deepEqual(
    wrong.map(({ file, names }) => `${file}: no schema has ${[...names].join(', ')}`),
    [],
  )
})

test('a struct with a property that the API does not have is found', () => {
  const source =
    'type Task struct {\n\tHref string `json:"href"`\n\tState string `json:"state"`\n}\n'
  assert.deepEqual(structsOf(source), [new Set(['href', 'state'])])
})
