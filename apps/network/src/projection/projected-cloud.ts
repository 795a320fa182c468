// The rows of PostgreSQL that the projection is made of. Ids, keys and MAC addresses are columns there, so a projection that is made
// again is the same.

export interface ProjectedExternalNetwork {
  readonly id: string
  /** The name by which hosts know the bridge that leads to it. */
  readonly uplink: string
  readonly vlan: number | null
  readonly gateway: string
  readonly prefix: number
}

export interface CarriedGateway {
  readonly id: string
  readonly port: number
  readonly external: string
}

export interface ProjectedEdgeGroup {
  readonly id: string
  readonly key: number
  /** The edge gateways that it carries, with the keys of their ports on its switch. All lead to the same external network. */
  readonly gateways: readonly CarriedGateway[]
}

export interface ProjectedEdgeGateway {
  readonly org: string
  readonly id: string
  readonly external: string
  /** The hosts that carry it, the preferred one first. */
  readonly hosts: readonly string[]
  readonly key: number
  readonly address: string
  /** The addresses of the external network that its organisation may use. */
  readonly addresses: readonly string[]
  /** As stored; `read-rules.ts` checks them. */
  readonly nat: unknown
  readonly firewall: unknown
  readonly routes: unknown
}

export interface ProjectedNetwork {
  readonly org: string
  readonly id: string
  readonly kind: 'isolated' | 'routed' | 'direct'
  readonly edgeGateway: string | null
  readonly external: string | null
  /** Null for a direct network. */
  readonly range: {
    readonly base: number
    readonly prefix: number
    readonly gateway: string
  } | null
  /** The prefix of its IPv6 addresses, such as fd12:3456:789a:1::/64; null: it has no IPv6. */
  readonly ipv6Prefix: string | null
  readonly dns: readonly string[]
  readonly dnsSuffix: string | null
  readonly key: number
  readonly edgePort: number | null
}

export interface ProjectedNic {
  readonly org: string
  readonly id: string
  readonly network: string
  readonly mode: 'POOL' | 'MANUAL' | 'DHCP' | 'NONE'
  readonly address: string | null
  readonly mac: string
  readonly key: number
  readonly connected: boolean
  /** The host of its VM, if it has one. */
  readonly host: string | null
  /** The names of its VM in DNS, the preferred one first. */
  readonly names: readonly string[]
  /** The security groups that its VM is in. */
  readonly groups: readonly string[]
}

/** Packets that a security group allows. */
export interface SecurityRule {
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'any'
  /** Of the destination; null: all. */
  readonly ports: { readonly low: number; readonly high: number } | null
  /** The peer is a block of addresses, such as 10.0.0.0/8, or the VMs of a group. Both null: anybody. */
  readonly block: string | null
  readonly peer: string | null
}

export interface ProjectedSecurityGroup {
  readonly org: string
  readonly id: string
  /** What its VMs accept; null: it does not limit that. */
  readonly in: readonly SecurityRule[] | null
  /** What its VMs send; null: it does not limit that. */
  readonly out: readonly SecurityRule[] | null
}

export interface ProjectedCloud {
  /** The MTU of guests. */
  readonly mtu: number
  /** Networks of the operator that no guest reaches through an edge gateway. */
  readonly protected: readonly string[]
  readonly externals: readonly ProjectedExternalNetwork[]
  readonly groups: readonly ProjectedEdgeGroup[]
  readonly gateways: readonly ProjectedEdgeGateway[]
  readonly networks: readonly ProjectedNetwork[]
  readonly nics: readonly ProjectedNic[]
  readonly securityGroups: readonly ProjectedSecurityGroup[]
}
