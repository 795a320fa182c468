// The documents of networks as JSON: the parts that the pages read.
import type { ApiLink } from './documents.ts'

export interface AddressRangeDocument {
  readonly startAddress: string
  readonly endAddress: string
}

export interface IpScopeDocument {
  readonly gateway?: string
  readonly netmask?: string
  readonly dns1?: string
  readonly dns2?: string
  readonly dnsSuffix?: string
  /** The pool from which addresses are chosen. */
  readonly ipRanges?: { readonly ipRange?: readonly AddressRangeDocument[] }
}

export type FenceMode = 'isolated' | 'natRouted' | 'bridged'

export interface NetworkDocument {
  readonly name: string
  readonly href: string
  /** 0: a change is on its way to the hosts. */
  readonly status?: number
  readonly description?: string
  readonly link?: readonly ApiLink[]
  readonly configuration?: {
    readonly ipScopes?: { readonly ipScope: IpScopeDocument }
    readonly fenceMode: FenceMode
    /** Of a bridged network: the external network that it is. */
    readonly parentNetwork?: { readonly name?: string; readonly href?: string }
  }
  readonly edgeGateway?: { readonly name?: string; readonly href?: string }
  readonly isShared?: boolean
  /** Of a network with IPv6. */
  readonly ipv6Prefix?: string
}

export interface AllocatedAddressDocument {
  readonly ipAddress: string
  /** Whether its VM is on. */
  readonly isDeployed?: boolean
  readonly link?: readonly ApiLink[]
}

export interface AllocatedAddressesDocument {
  readonly ipAddress?: readonly AllocatedAddressDocument[]
}
