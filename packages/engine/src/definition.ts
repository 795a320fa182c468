import type { VmId } from '@skerry/vm'

import type { Owner } from './record.ts'

/** All that a domain's XML says which differs from VM to VM. */
export interface Definition {
  readonly id: VmId
  readonly owner: Owner
  readonly incarnation: string
  readonly uuid: string
  /** For people who look with libvirt's own tools; the name that counts is in the record. */
  readonly title: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly nested: boolean
  readonly mac: string
  /** The host's bridge that its network card joins; undefined for our own network. */
  readonly bridge: string | undefined
  /** The network of an organisation that it joins where it joins no bridge; undefined for our own. */
  readonly network?: string | undefined
  /** The layers of its disk, the one that is written to first. */
  readonly layers: readonly [string, ...string[]]
  readonly seed: string | undefined
  readonly serial: string
}

/** What the host gives to every guest alike. */
export interface Hypervisor {
  readonly type: 'kvm' | 'qemu'
  /** The processor's word for running guests inside guests. */
  readonly nesting: 'svm' | 'vmx'
}

/** Two owners' ids may be equal; their domains may not. */
export const domainName = ({ owner, id }: { owner: Definition['owner']; id: string }): string =>
  `${owner}-${id}`

/** The id of the VM whose domain is called so; undefined for a domain that is none of ours. */
export const idOfDomain = (name: string): string | undefined =>
  /^(?:local|cloud)-(?<id>.+)$/s.exec(name)?.groups?.['id']
