import type { Element } from './element.ts'

// Every function also accepts undefined, so that a path through a document is one expression.

/** The first child element with this name. */
export function child(parent: Element | undefined, name: string): Element | undefined {
  for (const part of parent?.children ?? []) {
    if (typeof part !== 'string' && part.name === name) return part
  }
  return undefined
}

/** The child elements in order: those with this name, or all. */
export function children(parent: Element | undefined, name?: string): Element[] {
  const found: Element[] = []
  for (const part of parent?.children ?? []) {
    if (typeof part !== 'string' && (name === undefined || part.name === name)) found.push(part)
  }
  return found
}

/** The child elements with this local name, under any prefix. */
export function childrenByLocalName(parent: Element | undefined, name: string): Element[] {
  return children(parent).filter((part) => localName(part.name) === name)
}

/** The first element on this path: `find(domain, 'devices', 'disk')`. */
export function find(root: Element | undefined, ...path: readonly string[]): Element | undefined {
  let at = root
  for (const name of path) at = child(at, name)
  return at
}

/** The direct text of the element, without that of its children, white space kept. */
export function text(from: Element | undefined): string | undefined {
  return from?.children.filter((part) => typeof part === 'string').join('')
}

/** The value of an attribute. */
export function attribute(from: Element | undefined, name: string): string | undefined {
  return from?.attributes[name]
}

/** The name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
