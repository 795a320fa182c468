// Whether a document is OpenAPI 3.1, and complete: what a generator of clients would reject, or a client would miss.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Compile } from 'typebox/schema'

interface Operation {
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly { readonly in?: string; readonly name?: string }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
  readonly security?: readonly object[]
}
export type Content = Readonly<Record<string, { readonly schema: object }>>
interface Response {
  readonly $ref?: string
  readonly content?: Content
}
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags: readonly { readonly name: string }[]
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

const read = (): object =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'openapi-3.1.schema.json'), 'utf8')) as object

/** Throws if the document is not valid OpenAPI 3.1, or refers to something that it does not have. */
export function requireOpenApi(written: string): OpenApiDocument {
  const document = JSON.parse(written) as OpenApiDocument
  const checker = Compile(read())
  if (!checker.Check(document)) {
    assert.fail(JSON.stringify(checker.Errors(document)[1].slice(0, 5), undefined, 1))
  }
  for (const [, reference = ''] of written.matchAll(/"\$ref": ?"([^"]+)"/g)) {
    const [, , kind = '', name = ''] = reference.split('/')
    assert.ok(document.components[kind]?.[name], `${reference} refers to nothing`)
  }
  const ids = new Set<string>()
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const what = `${method} ${path}`
      assert.match(operation.operationId, /^[a-z][A-Za-z0-9]*$/, what)
      assert.ok(!ids.has(operation.operationId), `${operation.operationId} is there twice`)
      ids.add(operation.operationId)
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = (operation.parameters ?? []).filter((each) => each.in === 'path')
      assert.deepEqual(
        declared.map(({ name }) => name),
        inPath,
        what,
      )
      for (const tag of operation.tags ?? []) {
        assert.ok(
          document.tags.some(({ name }) => name === tag),
          `${what}: tag ${tag}`,
        )
      }
      for (const scheme of (operation.security ?? []).flatMap((each) => Object.keys(each))) {
        assert.ok(document.components['securitySchemes']?.[scheme], `${what}: ${scheme}`)
      }
    }
  }
  return document
}

/** Checks values against a schema of the document. */
export function checkerOf({ components }: OpenApiDocument, schema: object) {
  const checker = Compile({ ...schema, components })
  return (value: unknown): string | undefined =>
    checker.Check(value) ? undefined : JSON.stringify(checker.Errors(value)[1].slice(0, 3))
}
