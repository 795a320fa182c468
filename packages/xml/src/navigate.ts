import type { Element } from './element.ts'

// Every function takes undefined as well, so that a way through a document is one expression.

/** The first child element of this name. */
export function child(parent: Element | undefined, name: string): Element | undefined {
  for (const part of parent?.children ?? []) {
    if (typeof part !== 'string' && part.name === name) return part
  }
  return undefined
}

/** The child elements in order: those of this name, or all. */
export function children(parent: Element | undefined, name?: string): Element[] {
  const found: Element[] = []
  for (const part of parent?.children ?? []) {
    if (typeof part !== 'string' && (name === undefined || part.name === name)) found.push(part)
  }
  return found
}

/** The child elements of this name under any prefix. */
export function childrenByLocalName(parent: Element | undefined, name: string): Element[] {
  return children(parent).filter((part) => localName(part.name) === name)
}

/** The first element on this way down: `find(domain, 'devices', 'disk')`. */
export function find(root: Element | undefined, ...path: readonly string[]): Element | undefined {
  let at = root
  for (const name of path) at = child(at, name)
  return at
}

/** The text that stands directly in the element, without that of its children, white space kept. */
export function text(from: Element | undefined): string | undefined {
  return from?.children.filter((part) => typeof part === 'string').join('')
}

/** The value of the attribute of this name. */
export function attribute(from: Element | undefined, name: string): string | undefined {
  return from?.attributes[name]
}

/** The name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
