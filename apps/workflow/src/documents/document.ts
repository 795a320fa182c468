import { withReplacements, element, type Element } from '@skerry/xml'

/** One document in both formats, with the names that clients of this API read. Each format is built on demand. */
export interface Document {
  readonly xml: Element
  readonly json: unknown
}

export const isDocument = (body: unknown): body is Document =>
  typeof body === 'object' && body !== null && 'xml' in body && 'json' in body

export type Scalar = string | number | boolean | undefined

/** A part of a document: an element in XML, a key in JSON. */
export interface DocumentPart {
  readonly name: string
  readonly xml: Element
  readonly json: unknown
}

/** Attributes in XML, keys in JSON; parts follow. Undefined values are left out. */
export function resource(
  name: string,
  attributes: Readonly<Record<string, Scalar>>,
  ...parts: readonly (DocumentPart | undefined | false)[]
): Document {
  const present = parts.filter((each) => each !== undefined && each !== false)
  return {
    get xml() {
      return element(name, texts(attributes), ...present.map(({ xml }) => xml))
    },
    get json() {
      return { ...attributes, ...Object.fromEntries(present.map((each) => [each.name, each.json])) }
    },
  }
}

/** User text may contain characters that XML cannot represent. */
const texts = (values: Readonly<Record<string, Scalar>>): Record<string, Scalar> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? withReplacements(value) : value,
    ]),
  )

export const field = (name: string, value: Scalar): DocumentPart | undefined =>
  value === undefined
    ? undefined
    : { name, json: value, xml: element(name, {}, withReplacements(String(value))) }

/** A list: in XML inside its own element, in JSON an array. */
export const list = (name: string, things: readonly Document[]): DocumentPart => ({
  name,
  json: things.map(({ json }) => json),
  xml: element(name, {}, ...things.map(({ xml }) => xml)),
})

/** A list without a wrapping element in XML; in JSON an array under its name. */
export const listDocument = (
  root: string,
  attributes: Readonly<Record<string, Scalar>>,
  name: string,
  things: readonly Document[],
): Document => ({
  xml: element(root, texts(attributes), ...things.map(({ xml }) => xml)),
  json: { ...attributes, [name]: things.map(({ json }) => json) },
})

/** Our own namespace: clients of this API only look at element names. */
export const NAMESPACE = 'urn:skerry:workflow'

export const withNamespace = (root: Element): Element => ({
  ...root,
  attributes: { xmlns: NAMESPACE, ...root.attributes },
})

export const time = (at: Date | null): string | undefined => at?.toISOString()
