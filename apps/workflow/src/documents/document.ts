import { carried, element, type Element } from '@skerry/xml'

/** The same thing in both formats, with the names that clients of this family read. Each is made when it is looked at: one is asked for. */
export interface Document {
  readonly xml: Element
  readonly json: unknown
}

export const isDocument = (body: unknown): body is Document =>
  typeof body === 'object' && body !== null && 'xml' in body && 'json' in body

export type Scalar = string | number | boolean | undefined

/** A part of a document: an element here, a key there. */
export interface Part {
  readonly name: string
  readonly xml: Element
  readonly json: unknown
}

/** Attributes in XML, keys in JSON; parts follow. What is undefined is not said. */
export function thing(
  name: string,
  attributes: Readonly<Record<string, Scalar>>,
  ...parts: readonly (Part | undefined | false)[]
): Document {
  const said = parts.filter((each) => each !== undefined && each !== false)
  return {
    get xml() {
      return element(name, texts(attributes), ...said.map(({ xml }) => xml))
    },
    get json() {
      return { ...attributes, ...Object.fromEntries(said.map((each) => [each.name, each.json])) }
    },
  }
}

/** What a person wrote may hold what XML cannot carry. */
const texts = (values: Readonly<Record<string, Scalar>>): Record<string, Scalar> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? carried(value) : value,
    ]),
  )

export const field = (name: string, value: Scalar): Part | undefined =>
  value === undefined
    ? undefined
    : { name, json: value, xml: element(name, {}, carried(String(value))) }

/** A list of things: in XML below an element of its own, in JSON an array. */
export const list = (name: string, things: readonly Document[]): Part => ({
  name,
  json: things.map(({ json }) => json),
  xml: element(name, {}, ...things.map(({ xml }) => xml)),
})

/** A list of things without anything around them in XML: JSON keeps them below their name. */
export const repeated = (
  root: string,
  attributes: Readonly<Record<string, Scalar>>,
  name: string,
  things: readonly Document[],
): Document => ({
  xml: element(root, texts(attributes), ...things.map(({ xml }) => xml)),
  json: { ...attributes, [name]: things.map(({ json }) => json) },
})

export const time = (at: Date | null): string | undefined => at?.toISOString()
