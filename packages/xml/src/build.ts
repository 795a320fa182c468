import { Fault } from '@skerry/fault'

import { codePointName, findUncarried, isName } from './characters.ts'
import type { Element } from './element.ts'

/** A child of an element. undefined and false are omitted, so that a part can depend on a condition. */
export type Child = Element | string | number | undefined | false

/** An undefined attribute is omitted; true and false are written as these words. */
export type AttributeInput = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * An element with exactly these attributes and children. Names come from our own code: an invalid one is a TypeError.
 * Values may come from anywhere.
 */
export function element(
  name: string,
  attributes: AttributeInput = {},
  ...children: readonly Child[]
): Element {
  requireName(name)
  const written: Record<string, string> = Object.create(null)
  for (const [key, value] of Object.entries(attributes)) {
    requireName(key)
    if (value !== undefined) written[key] = typeof value === 'number' ? digits(value) : `${value}`
  }
  const kept: (Element | string)[] = []
  for (const child of children) {
    if (child === undefined || child === false || child === '') continue
    const part = typeof child === 'number' ? digits(child) : child
    const before = kept.at(-1)
    if (typeof part === 'string' && typeof before === 'string')
      kept[kept.length - 1] = before + part
    else kept.push(part)
  }
  return { name, attributes: written, children: kept }
}

/** The element as a document of its own, to be sent or stored as UTF-8. */
export function renderDocument(root: Element): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${renderElement(root)}\n`
}

/** The element without a declaration. A Fault `invalid` if a value contains a character that XML cannot represent. */
export function renderElement(root: Element): string {
  requireName(root.name)
  let tag = `<${root.name}`
  for (const [key, value] of Object.entries(root.attributes)) {
    requireName(key)
    tag += ` ${key}="${escapeValue(value, () => `the attribute ${key} of ${root.name}`)}"`
  }
  if (root.children.length === 0) return `${tag}/>`
  let inside = ''
  for (const part of root.children) {
    inside +=
      typeof part === 'string'
        ? escapeText(part, () => `the text of ${root.name}`)
        : renderElement(part)
  }
  return `${tag}>${inside}</${root.name}>`
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

function escapeValue(value: string, where: () => string): string {
  requireCarried(value, where)
  return value.replaceAll(/[&<>"'\t\n\r]/g, (character) => references[character] ?? character)
}

/** A parser converts a bare carriage return to a line feed, so it is the only white space that needs a reference here. */
function escapeText(text: string, where: () => string): string {
  requireCarried(text, where)
  return text.replaceAll(/[&<>"'\r]/g, (character) => references[character] ?? character)
}

function requireCarried(value: string, where: () => string): void {
  const at = findUncarried(value)
  if (at === -1) return
  throw new Fault(
    'invalid',
    `${where()} contains the character ${codePointName(value, at)}, which XML cannot represent`,
    { hint: 'Remove the character.' },
  )
}

function requireName(name: string): void {
  if (!isName(name)) throw new TypeError(`not a valid XML name: ${JSON.stringify(name)}`)
}

function digits(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`not a number to write into XML: ${value}`)
  return `${value}`
}
