import type { Element } from './element.ts'
import { localName, text } from './navigate.ts'
import {
  isObjectShape,
  NIL,
  TEXT_KEY,
  VARIANT_KEY,
  type ElementShape,
  type ObjectShape,
  type TextShape,
} from './shape.ts'

/** An element as JSON: for JSON.stringify, which writes integers of any size exactly. */
export function toJson(node: Element, shape: ElementShape): unknown {
  if (!isObjectShape(shape)) {
    const isNil = shape.isNillable === true && node.attributes[NIL] === 'true'
    return isNil ? null : scalar(text(node) ?? '', shape)
  }
  const variant = variantOf(node, shape)
  const { attributes, children, text: content } = variant ?? shape
  const object: Record<string, unknown> = variant ? { [VARIANT_KEY]: variant.name } : {}
  for (const { name, key, type } of attributes) {
    const value = node.attributes[name]
    if (value !== undefined) object[key] = scalar(value, type)
  }
  for (const { name, key, type, isList } of children) {
    if (isList) {
      const list: unknown[] = []
      for (const part of node.children) {
        if (typeof part !== 'string' && part.name === name) list.push(toJson(part, type))
      }
      object[key] = list
      continue
    }
    const found = node.children.find((part) => typeof part !== 'string' && part.name === name)
    if (found !== undefined) object[key] = toJson(found as Element, type)
  }
  if (content) object[TEXT_KEY] = scalar(text(node) ?? '', content)
  return object
}

const variantOf = (node: Element, { variants }: ObjectShape): ObjectShape | undefined =>
  variants.length === 0
    ? undefined
    : variants.find(({ name }) => name === localName(node.attributes['xsi:type'] ?? ''))

/** ES2026; TypeScript does not declare it yet. */
const { rawJSON } = JSON as unknown as {
  readonly rawJSON: (digits: string) => object
}
const DIGITS = /^-?(?:0|[1-9]\d*)$/

function scalar(written: string, { kind }: TextShape): unknown {
  if (kind === 'boolean') return ['true', '1'].includes(written.trim())
  if (kind === 'mediaType') return jsonMedia(written)
  if (kind !== 'integer') return written
  const digits = written.trim()
  const value = Number(digits)
  if (Number.isSafeInteger(value)) return value
  // JSON has no largest number: it is the reader that may lose digits.
  return DIGITS.test(digits) ? rawJSON(digits) : written
}

/** 'application/x.vm+xml' → 'application/x.vm+json': the same document for a client that reads JSON. */
export const jsonMedia = (media: string): string => media.replace(/\+xml(?=;|$)/, '+json')
export const xmlMedia = (media: string): string => media.replace(/\+json(?=;|$)/, '+xml')
