// The documents of edge gateways and external networks as JSON: the parts that the pages read and send.
import type { ApiLink } from './documents.ts'
import type { AddressRangeDocument, IpScopeDocument } from './network-documents.ts'

export interface FirewallRuleDocument {
  readonly id?: string
  readonly isEnabled?: boolean
  readonly description?: string
  readonly policy: 'allow' | 'drop'
  readonly protocols: {
    readonly icmp?: boolean
    readonly any?: boolean
    readonly tcp?: boolean
    readonly udp?: boolean
  }
  readonly destinationPortRange?: string
  readonly destinationIp: string
  readonly sourcePortRange?: string
  readonly sourceIp: string
  readonly direction?: 'in' | 'out'
}

export interface FirewallServiceDocument {
  readonly isEnabled?: boolean
  readonly defaultAction?: 'allow' | 'drop'
  readonly firewallRule?: readonly FirewallRuleDocument[]
}

export interface NatRuleDocument {
  readonly description?: string
  readonly ruleType: 'DNAT' | 'SNAT'
  readonly isEnabled?: boolean
  readonly id?: string
  readonly gatewayNatRule: {
    readonly originalIp: string
    readonly originalPort?: string
    readonly translatedIp: string
    readonly translatedPort?: string
    readonly protocol?: string
  }
}

export interface StaticRouteDocument {
  readonly name?: string
  readonly network: string
  readonly nextHopIp: string
}

/** What an edge gateway does with packets. In a request a service that is missing stays as it is. */
export interface EdgeServicesDocument {
  readonly firewallService?: FirewallServiceDocument
  readonly natService?: {
    readonly isEnabled?: boolean
    readonly natRule?: readonly NatRuleDocument[]
  }
  readonly staticRoutingService?: {
    readonly isEnabled?: boolean
    readonly staticRoute?: readonly StaticRouteDocument[]
  }
}

export interface GatewayInterfaceDocument {
  readonly name?: string
  readonly network: { readonly name?: string; readonly href?: string }
  readonly interfaceType: 'uplink' | 'internal'
  readonly subnetParticipation?: {
    readonly gateway?: string
    readonly netmask?: string
    readonly ipAddress?: string
    readonly ipRanges?: { readonly ipRange?: readonly AddressRangeDocument[] }
  }
}

export interface EdgeGatewayDocument {
  readonly name: string
  readonly href: string
  /** 0: a change is on its way to the hosts. */
  readonly status?: number
  /** Rises with each change. */
  readonly version?: number
  readonly description?: string
  readonly link?: readonly ApiLink[]
  readonly configuration?: {
    readonly gatewayInterfaces?: {
      readonly gatewayInterface?: readonly GatewayInterfaceDocument[]
    }
    readonly edgeGatewayServiceConfiguration?: EdgeServicesDocument
    readonly haEnabled?: boolean
  }
}

export interface ExternalAddressDocument {
  readonly ipAddress: string
  readonly isInUse?: boolean
  readonly link?: readonly ApiLink[]
}

export interface ExternalAddressesDocument {
  readonly link?: readonly ApiLink[]
  readonly externalAddress?: readonly ExternalAddressDocument[]
}

export interface ExternalNetworkDocument {
  readonly name: string
  readonly href: string
  readonly description?: string
  readonly link?: readonly ApiLink[]
  readonly configuration?: { readonly ipScopes?: { readonly ipScope: IpScopeDocument } }
  readonly uplink?: string
  readonly vlan?: number
  readonly isDefault?: boolean
}
