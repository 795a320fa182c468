import type { UsageSeries } from '@skerry/vm'
import { attribute, childrenByLocalName, text, type Element } from '@skerry/xml'

import { inside } from './query.ts'

/** Status names by the status codes in documents. */
const words: Readonly<{ [number: string]: string }> = {
  '-1': 'FAILED_CREATION',
  0: 'UNRESOLVED',
  1: 'RESOLVED',
  3: 'SUSPENDED',
  4: 'POWERED_ON',
  6: 'UNKNOWN',
  8: 'POWERED_OFF',
  9: 'INCONSISTENT_STATE',
  10: 'MIXED',
}

export interface SeenVm {
  /** As in its href: `vm-…`. */
  readonly id: string
  readonly href: string
  readonly name: string
  readonly status: string
  readonly vapp: string
  readonly cpus: number
  readonly memoryMB: number
  readonly diskMB: number
  /** Null until its host has reported it. */
  readonly address: string | null
  readonly network: string | null
  readonly nested: boolean
  readonly snapshot: SeenSnapshot | null
}

export interface SeenSnapshot {
  readonly name: string | null
  readonly created: string
  readonly poweredOn: boolean
}

export interface SeenVapp {
  /** As in its href: `vapp-…`. */
  readonly id: string
  readonly href: string
  readonly name: string
  readonly status: string
  readonly owner: string
  readonly vms: readonly SeenVm[]
}

const attributeOf = (node: Element | undefined, name: string): string => attribute(node, name) ?? ''
const idIn = (href: string): string => href.split('/').at(-1) ?? ''
const textIn = (node: Element | undefined, name: string): string | null =>
  text(childrenByLocalName(node, name)[0]) ?? null

/** CIM resource types. */
const kinds = { cpus: '3', memoryMB: '4', diskMB: '17' } as const

export function vmIn(document: Element): SeenVm {
  const href = attributeOf(document, 'href')
  const items = inside(document, 'VirtualHardwareSection', 'Item')
  const size = (kind: string) =>
    Number(
      textIn(
        items.find((item) => textIn(item, 'ResourceType') === kind),
        'VirtualQuantity',
      ) ?? 0,
    )
  const [card] = inside(document, 'NetworkConnectionSection', 'NetworkConnection')
  const up = childrenByLocalName(document, 'Link').find((link) => attributeOf(link, 'rel') === 'up')
  return {
    id: idIn(href),
    href,
    name: attributeOf(document, 'name'),
    status: statusIn(document),
    vapp: idIn(attributeOf(up, 'href')),
    cpus: size(kinds.cpus),
    memoryMB: size(kinds.memoryMB),
    diskMB: size(kinds.diskMB),
    address: textIn(card, 'IpAddress'),
    network: attribute(card, 'network') ?? null,
    nested: attributeOf(document, 'nestedHypervisorEnabled') === 'true',
    snapshot: snapshotIn(document),
  }
}

const statusIn = (document: Element): string => words[attributeOf(document, 'status')] ?? 'UNKNOWN'

function snapshotIn(document: Element): SeenSnapshot | null {
  const [found] = inside(document, 'SnapshotSection', 'Snapshot')
  if (!found) return null
  return {
    name: attribute(found, 'name') ?? null,
    created: attributeOf(found, 'created'),
    poweredOn: attributeOf(found, 'poweredOn') === 'true',
  }
}

export function vappIn(document: Element): SeenVapp {
  const href = attributeOf(document, 'href')
  const [owner] = inside(document, 'Owner', 'User')
  return {
    id: idIn(href),
    href,
    name: attributeOf(document, 'name'),
    status: statusIn(document),
    owner: attributeOf(owner, 'name'),
    vms: inside(document, 'Children', 'Vm').map(vmIn),
  }
}

/** The metadata of a resource. */
export function metadataIn(document: Element): {
  readonly [key: string]: string | number | boolean
} {
  return Object.fromEntries(
    childrenByLocalName(document, 'MetadataEntry').map((entry) => {
      const [typed] = childrenByLocalName(entry, 'TypedValue')
      const value = textIn(typed ?? entry, 'Value') ?? ''
      return [textIn(entry, 'Key') ?? '', valueOf(attributeOf(typed, 'xsi:type'), value)]
    }),
  )
}

function valueOf(type: string, value: string): string | number | boolean {
  if (type === 'MetadataNumberValue' && Number.isSafeInteger(Number(value))) return Number(value)
  if (type === 'MetadataBooleanValue') return value === 'true'
  return value
}

/** What a VM used; a gap is null. */
export function usageIn(document: Element): UsageSeries {
  const values = (name: string) =>
    childrenByLocalName(document, name).map((each) => {
      const written = text(each)
      return written === undefined || written === '' ? null : Number(written)
    })
  return {
    step: Number(attribute(document, 'step')),
    until: attribute(document, 'until') ?? '',
    cpuPercent: values('CpuPercent'),
    memoryMB: values('MemoryMB'),
    diskRead: values('DiskRead'),
    diskWrite: values('DiskWrite'),
    netIn: values('NetIn'),
    netOut: values('NetOut'),
  }
}
