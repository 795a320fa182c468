import { Fault } from '@skerry/fault'
import { childrenByLocalName, element, text, type Element } from '@skerry/xml'

import type { Sizes } from '../database/tables.ts'
import { readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

export type Reconfigured = Partial<Sizes>

/** CIM resource type → size and its limits (docs/reference/limits.md). */
const kinds: Readonly<
  Record<string, { readonly size: keyof Sizes; readonly least: number; readonly most: number }>
> = {
  3: { size: 'cpus', least: 1, most: 64 },
  4: { size: 'memoryMiB', least: 64, most: 1024 ** 2 },
  17: { size: 'diskMiB', least: 1, most: 2 * 1024 ** 2 },
}

function sizeIn(item: Element): Reconfigured {
  const childText = (name: string) => text(childrenByLocalName(item, name)[0])?.trim() ?? ''
  const kind = kinds[childText('ResourceType')]
  // The other devices of a VM are fixed: clients only send back what they read.
  if (!kind) return {}
  const { size, least, most } = kind
  const quantity = Number(/^\d{1,9}$/.exec(childText('VirtualQuantity'))?.[0] ?? Number.NaN)
  if (quantity >= least && quantity <= most) return { [size]: quantity }
  throw new Fault('invalid', `VirtualQuantity of ${size} must be from ${least} to ${most}`)
}

const item = (kind: number, quantity: number): Element =>
  element(
    'Item',
    {},
    element('ResourceType', {}, String(kind)),
    element('VirtualQuantity', {}, String(quantity)),
  )

/** One item of a VM's hardware, as it was read; its type must match its address. */
export const itemParams = (size: 'cpus' | 'memoryMiB'): RequestDocument<Reconfigured> => ({
  media: 'rasdItem',
  shape: 'Item',
  example: () => (size === 'cpus' ? item(3, 2) : item(4, 128)),
  read(raw) {
    const requested = sizeIn(readRoot(raw, 'Item'))
    if (requested[size] !== undefined) return requested
    const [kind] = Object.entries(kinds).find(([, each]) => each.size === size) ?? []
    throw new Fault('invalid', `the Item must have the ResourceType ${kind}, as it was read`)
  },
})

/** The document of a VM, as it was read: its hardware items contain the requested sizes. */
export const reconfigureParams: RequestDocument<Reconfigured> = {
  media: 'vm',
  shape: 'Vm',
  example: () =>
    element(
      'Vm',
      {},
      element('VirtualHardwareSection', {}, item(3, 2), item(4, 128), item(17, 128)),
    ),
  read(raw) {
    const [hardware] = childrenByLocalName(readRoot(raw, 'Vm'), 'VirtualHardwareSection')
    if (!hardware) throw new Fault('invalid', 'the body must have a VirtualHardwareSection')
    const items = childrenByLocalName(hardware, 'Item').map(sizeIn)
    return Object.assign({}, ...items) as Reconfigured
  },
}
