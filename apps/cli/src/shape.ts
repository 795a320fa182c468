/** A JSON Schema (2020-12), with as much of it as our answers need. What is not named in an object may be there too. */
export type Shape =
  | { readonly type: 'string' | 'number' | 'boolean' | 'null'; readonly description?: string }
  | { readonly type: 'array'; readonly items: Shape }
  | {
      readonly type: 'object'
      readonly properties: Readonly<Record<string, Shape>>
      readonly required: readonly string[]
      readonly additionalProperties?: Shape
    }
  | { readonly anyOf: readonly Shape[] }

export const text: Shape = { type: 'string' }
export const number: Shape = { type: 'number' }
export const truth: Shape = { type: 'boolean' }
export const orNull = (shape: Shape): Shape => ({ anyOf: [shape, { type: 'null' }] })
export const listOf = (items: Shape): Shape => ({ type: 'array', items })
export const anyOf = (...shapes: readonly Shape[]): Shape => ({ anyOf: shapes })

/** These must be there, and those may. */
export const object = (
  must: Readonly<Record<string, Shape>>,
  may: Readonly<Record<string, Shape>> = {},
): Shape => ({ type: 'object', properties: { ...must, ...may }, required: Object.keys(must) })

/** Any names, each with one of these. */
export const byName = (shape: Shape): Shape => ({
  type: 'object',
  properties: {},
  required: [],
  additionalProperties: shape,
})

/** Where a value is not what its shape says; undefined where it is. */
export function whyNotOf(shape: Shape, value: unknown, at = 'it'): string | undefined {
  if ('anyOf' in shape) {
    const reasons = shape.anyOf.map((each) => whyNotOf(each, value, at))
    return reasons.includes(undefined) ? undefined : reasons.join(', or ')
  }
  if (shape.type === 'array') {
    if (!Array.isArray(value)) return `${at} is no array`
    return first(value.map((each, index) => whyNotOf(shape.items, each, `${at}[${index}]`)))
  }
  if (shape.type !== 'object') {
    const type = value === null ? 'null' : typeof value
    return type === shape.type ? undefined : `${at} is ${type}, not ${shape.type}`
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `${at} is no object`
  }
  const { properties, required, additionalProperties } = shape
  const missing = required.find((name) => !(name in value))
  if (missing !== undefined) return `${at} has no ${missing}`
  return first(
    Object.entries(value).map(([name, each]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
      return own && whyNotOf(own, each, `${at}.${name}`)
    }),
  )
}

const first = (reasons: readonly (string | undefined)[]): string | undefined =>
  reasons.find((reason) => reason !== undefined)
