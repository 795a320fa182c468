import { Fault } from '@skerry/fault'
import { attribute, localName, readXml, type Element } from '@skerry/xml'

const NAME_MAX = 128
/** Not allowed in names: control characters cannot be displayed, typed or distinguished. */
const CONTROL = /\p{Cc}/u

/** Parses a body with this root element; throws a Fault otherwise. */
export function readRoot(raw: string, name: string): Element {
  const root = readXml(raw)
  if (localName(root.name) !== name) throw new Fault('invalid', `the body must be ${name}`)
  return root
}

/** The name for a resource, from the attribute `name`. */
export const nameIn = (root: Element): string => checkName(attribute(root, 'name') ?? '')

export function checkName(name: string): string {
  if (name.length < 1 || name.length > NAME_MAX || CONTROL.test(name) || name.trim() !== name) {
    throw new Fault(
      'invalid',
      `name must have 1 to ${NAME_MAX} characters, no control characters, and no leading or trailing space`,
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
