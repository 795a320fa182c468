import { Fault } from '@skerry/fault'
import { childrenByLocalName, text, type Element } from '@skerry/xml'

/** The text of a child element, if there is one. */
export function childText(root: Element, name: string): string | undefined {
  const [found] = childrenByLocalName(root, name)
  return found && (text(found) ?? '')
}

export function readBoolean(root: Element, name: string): boolean | undefined {
  const found = childText(root, name)?.trim()
  if (found === undefined) return undefined
  if (found === 'true' || found === '1') return true
  if (found === 'false' || found === '0') return false
  throw new Fault('invalid', `${name} must be true or false`)
}
