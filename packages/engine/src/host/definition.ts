import type { Nic, VmId } from '@skerry/vm'

import type { Datapath } from './known-overlay.ts'
import type { Owner } from './owner.ts'

/** The parts of a domain's XML that differ between VMs. */
export interface DomainDefinition {
  readonly id: VmId
  readonly owner: Owner
  readonly incarnation: string
  readonly uuid: string
  /** For users of virsh and similar tools; the authoritative name is in the record. */
  readonly title: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly nested: boolean
  readonly mac: string
  /** The host bridge that its network card joins; undefined for our own network. */
  readonly bridge: string | undefined
  /** The organisation network that it joins if it joins no bridge; undefined for our own network. */
  readonly network?: string | undefined
  /** Its cards on networks across hosts; it has no other card then. */
  readonly overlay?: OverlayCards | undefined
  /** The layers of its disk, the active one first. */
  readonly layers: readonly [string, ...string[]]
  readonly seed: string | undefined
  readonly serial: string
}

export interface OverlayCards {
  readonly nics: readonly Nic[]
  readonly datapath: Datapath
}

/** The settings that the host applies to every guest. */
export interface Hypervisor {
  readonly type: 'kvm' | 'qemu'
  /** The CPU feature flag for nested virtualisation. */
  readonly nesting: 'svm' | 'vmx'
}

/** Ids of two owners may be equal; their domain names may not. */
export const domainName = ({
  owner,
  id,
}: {
  owner: DomainDefinition['owner']
  id: string
}): string => `${owner}-${id}`

/** The id of the VM with this domain name; undefined if the domain was not created by Skerry. */
export const idOfDomain = (name: string): string | undefined =>
  /^(?:local|cloud)-(?<id>.+)$/s.exec(name)?.groups?.['id']
