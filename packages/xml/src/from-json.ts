import { Fault } from '@skerry/fault'

import { codePointName, findUncarried } from './characters.ts'
import type { Element } from './element.ts'
import { shownKey } from './read-json.ts'
import {
  isObjectShape,
  keysOf,
  NIL,
  TEXT_KEY,
  VARIANT_KEY,
  type ChildShape,
  type ElementShape,
  type ObjectShape,
  type TextShape,
} from './shape.ts'
import { xmlMedia } from './to-json.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * The element that a value of `readJson` stands for. A key that the shape does not have, or a value of another type, is a Fault
 * `invalid` that names its place: '$.source.href'. What is missing stays missing: a request may contain a part of a document.
 */
export function fromJson(name: string, shape: ElementShape, value: unknown, place = '$'): Element {
  if (!isObjectShape(shape)) {
    return shape.isNillable === true && value === null
      ? { name, attributes: { [NIL]: 'true' }, children: [] }
      : textElement(name, textOf(shape, value, place))
  }
  const given = objectAt(value, place)
  const variant = shape.variants.length === 0 ? undefined : chosen(shape, given, place)
  const { attributes, children, text } = variant ?? shape
  requireKnown(variant ?? shape, given, place)
  const written: Record<string, string> = Object.create(null)
  if (variant) written['xsi:type'] = variant.name
  for (const { name: attribute, key, type } of attributes) {
    if (Object.hasOwn(given, key)) written[attribute] = textOf(type, given[key], `${place}.${key}`)
  }
  const inside: (Element | string)[] = children.flatMap((child) => itemsOf(child, given, place))
  if (text && Object.hasOwn(given, TEXT_KEY)) {
    const own = textOf(text, given[TEXT_KEY], `${place}.${TEXT_KEY}`)
    if (own !== '') inside.push(own)
  }
  return { name, attributes: written, children: inside }
}

const textElement = (name: string, text: string): Element => ({
  name,
  attributes: {},
  children: text === '' ? [] : [text],
})

function itemsOf(
  { name, key, type, isList }: ChildShape,
  given: JsonObject,
  place: string,
): Element[] {
  if (!Object.hasOwn(given, key)) return []
  const value = given[key]
  const at = `${place}.${key}`
  if (!isList) return [fromJson(name, type, value, at)]
  if (!Array.isArray(value)) throw mismatch(at, 'an array', value)
  return value.map((item, index) => fromJson(name, type, item, `${at}[${index}]`))
}

function objectAt(value: unknown, place: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as JsonObject
  throw mismatch(place, 'an object', value)
}

function chosen({ variants }: ObjectShape, given: JsonObject, place: string): ObjectShape {
  const found = variants.find(({ name }) => name === given[VARIANT_KEY])
  if (found) return found
  const names = variants.map(({ name }) => name).join(', ')
  throw new Fault('invalid', `${place}.${VARIANT_KEY} must be one of ${names}`)
}

function requireKnown(shape: ObjectShape, given: JsonObject, place: string): void {
  const known = keysOf(shape)
  const other = Object.keys(given).find((key) => !known.includes(key))
  if (other === undefined) return
  throw new Fault('invalid', `${place} has no key ${shownKey(other)}`, {
    hint: `its keys are: ${known.join(', ')}`,
  })
}

const expected: Readonly<Record<TextShape['kind'], string>> = {
  string: 'a string',
  uri: 'a string',
  mediaType: 'a string',
  dateTime: 'a string with a time, such as "2026-11-15T12:00:00Z"',
  integer: 'an integer',
  boolean: 'true or false',
}

function textOf(shape: TextShape, value: unknown, place: string): string {
  const { kind, enum: values } = shape
  const text = kind === 'integer' ? digitsOf(shape, value, place) : plainOf(shape, value, place)
  if (text === undefined) throw mismatch(place, expected[kind], value)
  if (values && !values.includes(text)) {
    throw new Fault('invalid', `${place} must be one of ${values.join(', ')}`)
  }
  return text
}

function digitsOf(
  { minimum, maximum }: TextShape,
  value: unknown,
  place: string,
): string | undefined {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) return undefined
  const number = BigInt(value as number | bigint)
  if (
    (minimum === undefined || number >= minimum) &&
    (maximum === undefined || number <= maximum)
  ) {
    return number.toString()
  }
  throw new Fault('invalid', `${place} must be an integer from ${minimum} to ${maximum}`)
}

function plainOf({ kind }: TextShape, value: unknown, place: string): string | undefined {
  if (kind === 'boolean') return typeof value === 'boolean' ? String(value) : undefined
  if (typeof value !== 'string') return undefined
  const wrong = findUncarried(value)
  if (wrong !== -1) {
    const character = codePointName(value, wrong)
    throw new Fault('invalid', `${place} contains ${character}, which XML cannot represent`, {
      hint: 'remove the character: every document is readable as XML too',
    })
  }
  return kind === 'mediaType' ? xmlMedia(value) : value
}

function mismatch(place: string, wanted: string, value: unknown): Fault {
  const hint = value === null ? 'leave the key out instead of sending null' : undefined
  return new Fault('invalid', `${place} must be ${wanted}, not ${kindOf(value)}`, {
    ...(hint !== undefined && { hint }),
  })
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' || typeof value === 'bigint') return 'a number like this'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
