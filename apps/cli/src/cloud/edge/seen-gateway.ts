import { attribute, childrenByLocalName, find, text, type Element } from '@skerry/xml'

/** An edge gateway as its document shows it. */
export interface SeenGateway {
  readonly name: string
  readonly version: number
  /** The external network that it is on. */
  readonly external: string
  /** Its own address there. */
  readonly address: string
  readonly networks: readonly string[]
  readonly nat: readonly SeenNatRule[]
  readonly firewall: SeenFirewall
  readonly routes: readonly SeenRoute[]
}

/** A static route. No second one leads to the same network. */
export interface SeenRoute {
  readonly network: string
  readonly nexthop: string
  readonly name: string
}

export interface SeenNatRule {
  readonly id: string
  readonly enabled: boolean
  readonly kind: 'forward' | 'one-to-one' | 'snat'
  readonly protocol: string
  readonly external: string
  /** Null: all ports. */
  readonly port: number | null
  readonly internal: string
  readonly internalPort: number | null
}

export interface SeenFirewall {
  readonly enabled: boolean
  /** What happens to inbound packets that no rule matches. */
  readonly otherwise: 'allow' | 'deny'
  readonly rules: readonly SeenFirewallRule[]
}

export interface SeenFirewallRule {
  readonly id: string
  readonly enabled: boolean
  readonly policy: 'allow' | 'deny'
  readonly direction: 'in' | 'out'
  readonly protocols: readonly string[]
  readonly source: string
  readonly destination: string
  /** A port, a range, or any. */
  readonly ports: string
  readonly description: string
}

/** The external network that every zone has: hosts translate its addresses, so nothing arrives there from outside. */
export const OUTBOUND = 'outbound'

const child = (from: Element | undefined, name: string): Element | undefined =>
  childrenByLocalName(from, name)[0]
const textIn = (from: Element | undefined, name: string): string =>
  text(child(from, name))?.trim() ?? ''

/** The services of an edge gateway: its NAT, its firewall, its routes. */
export const servicesOf = (gateway: Element): Element | undefined =>
  find(gateway, 'Configuration', 'EdgeGatewayServiceConfiguration')

export const versionOf = (gateway: Element): number => Number(attribute(gateway, 'version') ?? 0)

/** A port, or null for all of them. */
const portIn = (rule: Element | undefined, name: string): number | null =>
  /^\d+$/.test(textIn(rule, name)) ? Number(textIn(rule, name)) : null

/** The document has the addresses of a source rule the other way round: what it translates first. */
export function seenNatRule(rule: Element): SeenNatRule {
  const inner = child(rule, 'GatewayNatRule')
  const isSource = textIn(rule, 'RuleType') === 'SNAT'
  const [original, translated] = [textIn(inner, 'OriginalIp'), textIn(inner, 'TranslatedIp')]
  const port = isSource ? null : portIn(inner, 'OriginalPort')
  return {
    id: textIn(rule, 'Id'),
    enabled: textIn(rule, 'IsEnabled') !== 'false',
    kind: isSource ? 'snat' : port === null ? 'one-to-one' : 'forward',
    protocol: textIn(inner, 'Protocol').toLowerCase() || 'any',
    external: isSource ? translated : original,
    port,
    internal: isSource ? original : translated,
    internalPort: port === null ? null : (portIn(inner, 'TranslatedPort') ?? port),
  }
}

const anyIn = (rule: Element, name: string): string => {
  const written = textIn(rule, name).toLowerCase()
  return written === '' || written === '-1' ? 'any' : written
}

export function seenFirewallRule(rule: Element): SeenFirewallRule {
  const [source, destination] = [anyIn(rule, 'SourceIp'), anyIn(rule, 'DestinationIp')]
  const written = textIn(rule, 'Direction').toLowerCase()
  const isOut = written === '' ? source === 'internal' : written === 'out'
  const protocols = ['Tcp', 'Udp', 'Icmp', 'Any'].filter(
    (name) => textIn(child(rule, 'Protocols'), name) === 'true',
  )
  const range = anyIn(rule, 'DestinationPortRange')
  return {
    id: textIn(rule, 'Id'),
    enabled: textIn(rule, 'IsEnabled') !== 'false',
    policy: textIn(rule, 'Policy') === 'allow' ? 'allow' : 'deny',
    direction: isOut ? 'out' : 'in',
    protocols: protocols.length === 0 ? ['any'] : protocols.map((each) => each.toLowerCase()),
    source,
    destination,
    ports: range === 'any' ? anyIn(rule, 'Port') : range,
    description: textIn(rule, 'Description'),
  }
}

export const natRulesIn = (services: Element | undefined): readonly SeenNatRule[] =>
  childrenByLocalName(child(services, 'NatService'), 'NatRule').map(seenNatRule)

export function firewallIn(services: Element | undefined): SeenFirewall {
  const service = child(services, 'FirewallService')
  return {
    enabled: textIn(service, 'IsEnabled') === 'true',
    otherwise: textIn(service, 'DefaultAction') === 'allow' ? 'allow' : 'deny',
    rules: childrenByLocalName(service, 'FirewallRule').map(seenFirewallRule),
  }
}

export const seenRoute = (route: Element): SeenRoute => ({
  network: textIn(route, 'Network'),
  nexthop: textIn(route, 'NextHopIp'),
  name: textIn(route, 'Name'),
})

export const routesIn = (services: Element | undefined): readonly SeenRoute[] =>
  childrenByLocalName(child(services, 'StaticRoutingService'), 'StaticRoute').map(seenRoute)

const interfacesOf = (gateway: Element, type: 'uplink' | 'internal'): readonly Element[] =>
  childrenByLocalName(
    find(gateway, 'Configuration', 'GatewayInterfaces'),
    'GatewayInterface',
  ).filter((each) => textIn(each, 'InterfaceType') === type)

export function gatewayIn(gateway: Element): SeenGateway {
  const services = servicesOf(gateway)
  const [uplink] = interfacesOf(gateway, 'uplink')
  return {
    name: attribute(gateway, 'name') ?? '',
    version: versionOf(gateway),
    external: textIn(uplink, 'Name'),
    address: textIn(child(uplink, 'SubnetParticipation'), 'IpAddress'),
    networks: interfacesOf(gateway, 'internal').map((each) => textIn(each, 'Name')),
    nat: natRulesIn(services),
    firewall: firewallIn(services),
    routes: routesIn(services),
  }
}
