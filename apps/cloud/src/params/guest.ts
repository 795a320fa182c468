import { Fault } from '@skerry/fault'
import { whyNotSeed, type Seed } from '@skerry/vm'
import { childrenByLocalName, text, type Element } from '@skerry/xml'

/** In bytes. It is sent within a step, and a larger one cannot be stored sealed. */
export const USER_DATA_BYTES_MAX = 16 * 1024
const SSH_KEYS_MAX = 32
const SSH_KEYS_BYTES_MAX = 16 * 1024

/**
 * Reads the GuestCustomizationSection of a VM to create: ComputerName, any number of SshKey, or UserData for cloud-init. Leading
 * white space belongs to the XML and is removed: cloud-init looks at the first characters of the document.
 */
export function guestIn(parent: Element): Seed | undefined {
  const [section, another] = childrenByLocalName(parent, 'GuestCustomizationSection')
  if (!section) return undefined
  if (another) throw new Fault('invalid', 'only one GuestCustomizationSection is allowed')
  const textOf = (name: string): string | undefined => {
    const all = childrenByLocalName(section, name)
    if (all.length > 1) throw new Fault('invalid', `only one ${name} is allowed`)
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
  if (userData === '') return 'UserData must not be empty'
  if (userData !== undefined && Buffer.byteLength(userData) > USER_DATA_BYTES_MAX) {
    return `UserData must have at most ${USER_DATA_BYTES_MAX} bytes`
  }
  const bytes = sshKeys.reduce((sum, key) => sum + Buffer.byteLength(key), 0)
  if (sshKeys.length <= SSH_KEYS_MAX && bytes <= SSH_KEYS_BYTES_MAX) return undefined
  return `at most ${SSH_KEYS_MAX} SshKeys of ${SSH_KEYS_BYTES_MAX} bytes in total are allowed`
}
