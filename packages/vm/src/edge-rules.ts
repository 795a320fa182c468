/** A rule has a number of its own, which it keeps when others are added or deleted. */
interface EdgeRule {
  readonly id: string
  /** Default: true. */
  readonly enabled?: boolean
  readonly description?: string
}

/** All packets to the external address go to the internal one, and its packets leave by the external address. */
export interface OneToOneRule extends EdgeRule {
  readonly kind: 'one-to-one'
  readonly external: string
  readonly internal: string
}

/** Packets to a port of the external address go to a port of the internal one. */
export interface ForwardRule extends EdgeRule {
  readonly kind: 'forward'
  readonly protocol: 'tcp' | 'udp'
  readonly external: string
  readonly port: number
  readonly internal: string
  readonly internalPort: number
}

/** Packets from an address or a network leave by the external address. */
export interface SnatRule extends EdgeRule {
  readonly kind: 'snat'
  readonly external: string
  /** ADDRESS or ADDRESS/PREFIX. */
  readonly internal: string
}

export type NatRule = OneToOneRule | ForwardRule | SnatRule

export interface PortRange {
  readonly low: number
  readonly high: number
}

export const firewallProtocols = ['tcp', 'udp', 'icmp', 'any'] as const
export type FirewallProtocol = (typeof firewallProtocols)[number]

export interface FirewallRule extends EdgeRule {
  readonly policy: 'allow' | 'drop'
  readonly direction: 'in' | 'out'
  readonly protocols: readonly FirewallProtocol[]
  /** any, internal, external, ADDRESS, ADDRESS/PREFIX or ADDRESS-ADDRESS. */
  readonly source: string
  readonly sourcePorts?: PortRange
  readonly destination: string
  readonly destinationPorts?: PortRange
}

export interface EdgeFirewall {
  readonly enabled: boolean
  /** What happens to inbound packets that no rule matches. Outbound ones pass. */
  readonly otherwise: 'allow' | 'drop'
  readonly rules: readonly FirewallRule[]
}

/** A static route. */
export interface EdgeRoute {
  readonly id: string
  readonly name?: string
  readonly network: string
  readonly nexthop: string
}

/** How many of each an edge gateway can have. */
export const edgeRuleLimits = { nat: 128, firewall: 128, routes: 32 } as const

export const isRuleEnabled = ({ enabled = true }: { readonly enabled?: boolean }): boolean =>
  enabled
