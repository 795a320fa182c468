/** The subset of JSON Schema (2020-12) that our output needs. Objects may have more properties than those named. */
export type OutputShape =
  | { readonly type: 'string' | 'number' | 'boolean' | 'null'; readonly description?: string }
  | { readonly type: 'array'; readonly items: OutputShape }
  | {
      readonly type: 'object'
      readonly properties: Readonly<Record<string, OutputShape>>
      readonly required: readonly string[]
      readonly additionalProperties?: OutputShape
    }
  | { readonly anyOf: readonly OutputShape[] }

export const text: OutputShape = { type: 'string' }
export const number: OutputShape = { type: 'number' }
export const truth: OutputShape = { type: 'boolean' }
export const orNull = (shape: OutputShape): OutputShape => ({ anyOf: [shape, { type: 'null' }] })
export const listOf = (items: OutputShape): OutputShape => ({ type: 'array', items })
export const anyOf = (...shapes: readonly OutputShape[]): OutputShape => ({ anyOf: shapes })

/** An object with required and optional properties. */
export const object = (
  must: Readonly<Record<string, OutputShape>>,
  may: Readonly<Record<string, OutputShape>> = {},
): OutputShape => ({ type: 'object', properties: { ...must, ...may }, required: Object.keys(must) })

/** A map from any name to this shape. */
export const byName = (shape: OutputShape): OutputShape => ({
  type: 'object',
  properties: {},
  required: [],
  additionalProperties: shape,
})

/** Why a value does not match its shape; undefined if it does. */
export function whyNotOf(shape: OutputShape, value: unknown, at = 'it'): string | undefined {
  if ('anyOf' in shape) {
    const reasons = shape.anyOf.map((each) => whyNotOf(each, value, at))
    return reasons.includes(undefined) ? undefined : reasons.join(', or ')
  }
  if (shape.type === 'array') {
    if (!Array.isArray(value)) return `${at} is not an array`
    return first(value.map((each, index) => whyNotOf(shape.items, each, `${at}[${index}]`)))
  }
  if (shape.type !== 'object') {
    const type = value === null ? 'null' : typeof value
    return type === shape.type ? undefined : `${at} is ${type}, not ${shape.type}`
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `${at} is not an object`
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
