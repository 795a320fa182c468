import { Fault } from '@skerry/fault'
import { whyNotSeed, type Seed } from '@skerry/vm'
import { childrenByLocalName, text, type Element } from '@skerry/xml'

/** In bytes. It travels in a step, and there is no way to write a larger one down sealed. */
export const USER_DATA_BYTES_MAX = 16 * 1024
const SSH_KEYS_MAX = 32
const SSH_KEYS_BYTES_MAX = 16 * 1024

/**
 * GuestCustomizationSection of what shall be made: ComputerName, any number of SshKey, or UserData for cloud-init. The white
 * space before a document is the XML's, not its own: cloud-init looks at its first characters.
 */
export function guestIn(parent: Element): Seed | undefined {
  const [section, another] = childrenByLocalName(parent, 'GuestCustomizationSection')
  if (!section) return undefined
  if (another) throw new Fault('invalid', 'there may be one GuestCustomizationSection')
  const textOf = (name: string): string | undefined => {
    const all = childrenByLocalName(section, name)
    if (all.length > 1) throw new Fault('invalid', `there may be one ${name}`)
    return text(all[0])
  }
  const hostname = textOf('ComputerName')?.trim()
  const userData = textOf('UserData')?.trimStart()
  const sshKeys = childrenByLocalName(section, 'SshKey').map((key) => (text(key) ?? '').trim())
  const seed: Seed = {
    ...(hostname !== undefined && { hostname }),
    ...(sshKeys.length > 0 && { sshKeys }),
    ...(userData !== undefined && { userData }),
  }
  const why = whyNotSeed(seed) ?? whyTooLarge(seed)
  if (why !== undefined) throw new Fault('invalid', `GuestCustomizationSection: ${why}`)
  return seed
}

function whyTooLarge({ sshKeys = [], userData }: Seed): string | undefined {
  if (userData === '') return 'UserData must hold a document'
  if (userData !== undefined && Buffer.byteLength(userData) > USER_DATA_BYTES_MAX) {
    return `UserData must have at most ${USER_DATA_BYTES_MAX} bytes`
  }
  const bytes = sshKeys.reduce((sum, key) => sum + Buffer.byteLength(key), 0)
  if (sshKeys.length <= SSH_KEYS_MAX && bytes <= SSH_KEYS_BYTES_MAX) return undefined
  return `there may be ${SSH_KEYS_MAX} SshKeys, of ${SSH_KEYS_BYTES_MAX} bytes together`
}
