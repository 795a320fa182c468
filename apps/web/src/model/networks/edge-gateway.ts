// The rules of an edge gateway as the pages show them, and the changes that users make to them. A change is a function, so that it can be
// made again on what somebody else has changed meanwhile.
import type {
  EdgeGatewayDocument,
  EdgeServicesDocument,
  FirewallRuleDocument,
  GatewayInterfaceDocument,
  NatRuleDocument,
  StaticRouteDocument,
} from '../../api/edge-documents.ts'

export type ServicesChange = (services: EdgeServicesDocument) => EdgeServicesDocument

export const servicesOf = (gateway: EdgeGatewayDocument): EdgeServicesDocument =>
  gateway.configuration?.edgeGatewayServiceConfiguration ?? {}

export const natRulesOf = ({ natService }: EdgeServicesDocument): readonly NatRuleDocument[] =>
  natService?.natRule ?? []
export const firewallRulesOf = ({
  firewallService,
}: EdgeServicesDocument): readonly FirewallRuleDocument[] => firewallService?.firewallRule ?? []
export const routesOf = ({
  staticRoutingService,
}: EdgeServicesDocument): readonly StaticRouteDocument[] => staticRoutingService?.staticRoute ?? []

const interfacesOf = (gateway: EdgeGatewayDocument): readonly GatewayInterfaceDocument[] =>
  gateway.configuration?.gatewayInterfaces?.gatewayInterface ?? []

export const uplinkOf = (gateway: EdgeGatewayDocument): GatewayInterfaceDocument | undefined =>
  interfacesOf(gateway).find(({ interfaceType }) => interfaceType === 'uplink')

/** The networks behind the gateway. */
export const innerInterfacesOf = (
  gateway: EdgeGatewayDocument,
): readonly GatewayInterfaceDocument[] =>
  interfacesOf(gateway).filter(({ interfaceType }) => interfaceType === 'internal')

/** The gateway's own address on the external network. */
export const ownAddressOf = (gateway: EdgeGatewayDocument): string =>
  uplinkOf(gateway)?.subnetParticipation?.ipAddress ?? ''

/** The external addresses that the organisation took. */
export const takenAddressesOf = (gateway: EdgeGatewayDocument): readonly string[] =>
  (uplinkOf(gateway)?.subnetParticipation?.ipRanges?.ipRange ?? []).map(
    ({ startAddress }) => startAddress,
  )

export type NatKind = 'forward' | 'oneToOne' | 'source'

/** Whether a port or an address of a rule means all of them. */
export const isAnyText = (text: string | undefined): boolean =>
  text === undefined || /^(?:any|-1|)$/i.test(text)

export const natKindOf = ({ ruleType, gatewayNatRule }: NatRuleDocument): NatKind =>
  ruleType === 'SNAT' ? 'source' : isAnyText(gatewayNatRule.originalPort) ? 'oneToOne' : 'forward'

export const isRuleOn = ({ isEnabled = true }: { readonly isEnabled?: boolean }): boolean =>
  isEnabled

/** The words of a rule, such as tcp 203.0.113.7:443 → 10.84.0.5:8443. */
export function natText(rule: NatRuleDocument): string {
  const { originalIp, originalPort, translatedIp, translatedPort, protocol } = rule.gatewayNatRule
  const kind = natKindOf(rule)
  if (kind === 'forward')
    return `${protocol ?? 'tcp'} ${originalIp}:${originalPort} → ${translatedIp}:${translatedPort}`
  return kind === 'oneToOne'
    ? `${originalIp} ↔ ${translatedIp}`
    : `${originalIp} leaves as ${translatedIp}`
}

const protocolNames = ['any', 'tcp', 'udp', 'icmp'] as const
export type FirewallProtocolName = (typeof protocolNames)[number]

export const protocolsText = ({ protocols }: FirewallRuleDocument): string =>
  protocolNames.filter((name) => protocols[name]).join(', ')

const withPorts = (address: string, ports: string | undefined): string =>
  isAnyText(ports) ? address.toLowerCase() : `${address.toLowerCase()} port ${ports}`

/** allow in tcp: any → 203.0.113.7 port 443 */
export const firewallText = (rule: FirewallRuleDocument): string =>
  `${rule.policy} ${rule.direction ?? 'in'} ${protocolsText(rule)}: ${withPorts(rule.sourceIp, rule.sourcePortRange)} → ${withPorts(rule.destinationIp, rule.destinationPortRange)}`

const routeText = ({ network, nextHopIp }: StaticRouteDocument): string =>
  `${network} by ${nextHopIp}`

const withNat = (
  services: EdgeServicesDocument,
  natRule: readonly NatRuleDocument[],
): EdgeServicesDocument => ({ natService: { ...services.natService, natRule } })

const withFirewall = (
  services: EdgeServicesDocument,
  firewallRule: readonly FirewallRuleDocument[],
): EdgeServicesDocument => ({ firewallService: { ...services.firewallService, firewallRule } })

const withRoutes = (
  services: EdgeServicesDocument,
  staticRoute: readonly StaticRouteDocument[],
): EdgeServicesDocument => ({
  staticRoutingService: { ...services.staticRoutingService, staticRoute },
})

export const addNat =
  (rule: NatRuleDocument): ServicesChange =>
  (services) =>
    withNat(services, [...natRulesOf(services), rule])

export const removeNat =
  (id: string | undefined): ServicesChange =>
  (services) =>
    withNat(
      services,
      natRulesOf(services).filter((rule) => rule.id !== id),
    )

export const switchNat =
  (id: string | undefined, isEnabled: boolean): ServicesChange =>
  (services) =>
    withNat(
      services,
      natRulesOf(services).map((rule) => (rule.id === id ? { ...rule, isEnabled } : rule)),
    )

/** A new rule is the first: it holds whatever the others say. */
export const addFirewall =
  (rule: FirewallRuleDocument): ServicesChange =>
  (services) =>
    withFirewall(services, [rule, ...firewallRulesOf(services)])

export const removeFirewall =
  (id: string | undefined): ServicesChange =>
  (services) =>
    withFirewall(
      services,
      firewallRulesOf(services).filter((rule) => rule.id !== id),
    )

export const switchFirewall =
  (id: string | undefined, isEnabled: boolean): ServicesChange =>
  (services) =>
    withFirewall(
      services,
      firewallRulesOf(services).map((rule) => (rule.id === id ? { ...rule, isEnabled } : rule)),
    )

/** Moves a rule up (-1) or down (1). */
export const moveFirewall =
  (id: string | undefined, by: -1 | 1): ServicesChange =>
  (services) => {
    const rules = firewallRulesOf(services)
    const from = rules.findIndex((rule) => rule.id === id)
    const moved = rules[from]
    const to = from + by
    if (!moved || to < 0 || to >= rules.length) return withFirewall(services, rules)
    return withFirewall(services, rules.toSpliced(from, 1).toSpliced(to, 0, moved))
  }

export const setDefaultAction =
  (defaultAction: 'allow' | 'drop'): ServicesChange =>
  ({ firewallService }) => ({ firewallService: { ...firewallService, defaultAction } })

export const addRoute =
  (route: StaticRouteDocument): ServicesChange =>
  (services) =>
    withRoutes(services, [...routesOf(services), route])

export const removeRoute =
  (network: string): ServicesChange =>
  (services) =>
    withRoutes(
      services,
      routesOf(services).filter((route) => route.network !== network),
    )

/** A port of a VM that the outside may reach. */
export interface PortToPublish {
  readonly external: string
  readonly port: number
  readonly internal: string
  readonly internalPort: number
  readonly protocol: 'tcp' | 'udp'
  readonly description: string
}

export const forwardRule = (published: PortToPublish): NatRuleDocument => ({
  description: published.description,
  ruleType: 'DNAT',
  isEnabled: true,
  gatewayNatRule: {
    originalIp: published.external,
    originalPort: String(published.port),
    translatedIp: published.internal,
    translatedPort: String(published.internalPort),
    protocol: published.protocol,
  },
})

/** Forwards a port and lets it through the firewall, in one change. */
export const publishPort =
  (published: PortToPublish): ServicesChange =>
  (services) => ({
    ...addNat(forwardRule(published))(services),
    ...addFirewall({
      description: published.description,
      isEnabled: true,
      policy: 'allow',
      protocols: { [published.protocol]: true },
      sourceIp: 'Any',
      destinationIp: published.external,
      destinationPortRange: String(published.port),
      direction: 'in',
    })(services),
  })

const isSameOutside = (one: NatRuleDocument, other: NatRuleDocument): boolean =>
  one.gatewayNatRule.originalIp === other.gatewayNatRule.originalIp &&
  one.gatewayNatRule.originalPort === other.gatewayNatRule.originalPort &&
  one.gatewayNatRule.protocol === other.gatewayNatRule.protocol

/** The firewall rules that let in exactly what this rule forwards; none if another rule forwards the same port. */
export function passingRules(
  forward: NatRuleDocument,
  services: EdgeServicesDocument,
): readonly FirewallRuleDocument[] {
  const others = natRulesOf(services).filter(({ id }) => id !== forward.id)
  if (natKindOf(forward) !== 'forward' || others.some((each) => isSameOutside(each, forward)))
    return []
  const { originalIp, originalPort, protocol = 'tcp' } = forward.gatewayNatRule
  return firewallRulesOf(services).filter(
    (rule) =>
      rule.policy === 'allow' &&
      (rule.direction ?? 'in') === 'in' &&
      rule.destinationIp === originalIp &&
      rule.destinationPortRange === originalPort &&
      protocolsText(rule) === protocol,
  )
}

/** Removes a forward and the firewall rules that let in what it forwards, in one change. */
export const unpublishPort =
  (forward: NatRuleDocument): ServicesChange =>
  (services) => {
    const passing = passingRules(forward, services)
    return {
      ...removeNat(forward.id)(services),
      ...withFirewall(
        services,
        firewallRulesOf(services).filter((rule) => !passing.includes(rule)),
      ),
    }
  }

/** What the services contain, a line each. */
export const linesOfServices = (services: EdgeServicesDocument): readonly string[] => [
  ...natRulesOf(services).map((rule) => `${natText(rule)}${isRuleOn(rule) ? '' : ' (disabled)'}`),
  ...firewallRulesOf(services).map(
    (rule) => `${firewallText(rule)}${isRuleOn(rule) ? '' : ' (disabled)'}`,
  ),
  ...routesOf(services).map(routeText),
  `otherwise ${services.firewallService?.defaultAction ?? 'drop'}`,
]

const PORT = /^[1-9]\d{0,4}$/
export const isPort = (text: string): boolean => PORT.test(text) && Number(text) <= 65_535

/** Whether a text is one port, or a range such as 8000-8080. */
export const isPortRange = (text: string): boolean => {
  const [low = '', high = low, ...more] = text.split('-')
  return more.length === 0 && isPort(low) && isPort(high) && Number(low) <= Number(high)
}
