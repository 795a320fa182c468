// Documents as JSON, for tests: the JSON of a request in XML, and what the JSON Schemas say about a response.
import assert from 'node:assert/strict'

import {
  isObjectShape,
  localName,
  readXml,
  toJson,
  type Element,
  type ElementShape,
} from '@skerry/xml'
import { Compile } from 'typebox/schema'

import { original, ours } from '../src/dialect/dialect.ts'
import { documentElements, type DocumentName } from '../src/dialect/document-elements.ts'
import { shapeOf } from '../src/dialect/shapes.ts'
import { documentSchemas } from '../src/documents/openapi.ts'

/** The names of a request document, as the schema has them: some tests leave prefixes out. */
function qualified(node: Element, shape: ElementShape): Element {
  if (!isObjectShape(shape)) return node
  return {
    ...node,
    children: node.children.map((part) => {
      if (typeof part === 'string') return part
      const child = shape.children.find(({ name }) => localName(name) === localName(part.name))
      return child ? { ...qualified(part, child.type), name: child.name } : part
    }),
  }
}

/** The same request in JSON; what the schema does not have is left out. */
export function jsonOf(xml: string): string {
  const root = readXml(xml)
  const shape = shapeOf(localName(root.name))
  return JSON.stringify(toJson(qualified(root, shape), shape))
}

/** JSON instead of XML: 'application/*+xml;version=5.1' → 'application/*+json;version=5.1'. */
export const asJson = (accept: string): string => accept.replace('+xml', '+json')

const names = Object.keys(documentElements) as DocumentName[]
const byMedia = new Map(
  [ours, original].flatMap(({ media }) =>
    names.map((name) => [media(name).replace('+xml', '+json'), name] as const),
  ),
)

const compiled = new Map<DocumentName, ReturnType<typeof Compile>>()

function checkerOf(name: DocumentName): ReturnType<typeof Compile> {
  const known = compiled.get(name)
  if (known) return known
  const { schemas, answer } = documentSchemas()
  const anyOf = documentElements[name].map((each) => answer(each))
  const made = Compile({ anyOf, components: { schemas } })
  compiled.set(name, made)
  return made
}

/** Whether it is a type of a document in JSON; `application/json` is not, since it names none. */
export const isJsonDocument = (type: string): boolean => byMedia.has(type.split(';')[0] ?? '')

/** Throws if a response in JSON does not have the form that the OpenAPI document describes. */
export function holdToJsonSchema(requested: string, type: string, text: string): void {
  const name = byMedia.get(type.split(';')[0] ?? '')
  assert.ok(name, `${requested} comes as ${type}`)
  const checker = checkerOf(name)
  const value: unknown = JSON.parse(text)
  if (checker.Check(value)) return
  const [, errors] = checker.Errors(value)
  assert.fail(`${requested}: ${JSON.stringify(errors, undefined, 1).slice(0, 2000)}\n${text}`)
}
