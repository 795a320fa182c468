import { Fault } from '@skerry/fault'
import { attribute, localName, readXml, type Element } from '@skerry/xml'

const NAME_MAX = 128
/** What no name holds: it could not be shown, typed or told apart. */
const CONTROL = /\p{Cc}/u

/** A body of this element, or a Fault that says so. */
export function readRoot(raw: string, name: string): Element {
  const root = readXml(raw)
  if (localName(root.name) !== name) throw new Fault('invalid', `the body must be ${name}`)
  return root
}

/** The name that a thing shall have, as an attribute of the element. */
export function nameIn(root: Element): string {
  const name = attribute(root, 'name') ?? ''
  if (name.length < 1 || name.length > NAME_MAX || CONTROL.test(name) || name.trim() !== name) {
    throw new Fault(
      'invalid',
      `name must have 1 to ${NAME_MAX} characters, no control characters, and no space at its ends`,
    )
  }
  return name
}

export function readNamed(
  raw: string,
  element: string,
): { readonly root: Element; readonly name: string } {
  const root = readRoot(raw, element)
  return { root, name: nameIn(root) }
}
