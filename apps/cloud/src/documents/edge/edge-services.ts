import {
  firewallProtocols,
  isRuleEnabled,
  type EdgeRoute,
  type FirewallRule,
  type NatRule,
  type PortRange,
} from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { EdgeServices } from '../../domain/edge-services.ts'

const bool = (name: string, value: boolean): Element => element(name, {}, String(value))

/** Words of the original are spelt so. */
const peer = (text: string): string => (text === 'any' ? 'Any' : text)

const portsOf = (ports: PortRange | undefined): string => {
  if (ports === undefined) return 'Any'
  const { low, high } = ports
  return low === high ? String(low) : `${low}-${high}`
}

/** -1 for all that is not one port. */
const portOf = (ports: PortRange | undefined): number =>
  ports !== undefined && ports.low === ports.high ? ports.low : -1

const protocolNames = { tcp: 'Tcp', udp: 'Udp', icmp: 'Icmp', any: 'Any' } as const

const firewallRule = (rule: FirewallRule): Element =>
  element(
    'FirewallRule',
    {},
    element('Id', {}, rule.id),
    bool('IsEnabled', isRuleEnabled(rule)),
    bool('MatchOnTranslate', false),
    element('Description', {}, rule.description ?? ''),
    element('Policy', {}, rule.policy),
    element(
      'Protocols',
      {},
      // In the order of the schema.
      ...(['icmp', 'any', 'tcp', 'udp'] as const)
        .filter((each) => firewallProtocols.includes(each) && rule.protocols.includes(each))
        .map((each) => bool(protocolNames[each], true)),
    ),
    element('Port', {}, portOf(rule.destinationPorts)),
    element('DestinationPortRange', {}, portsOf(rule.destinationPorts)),
    element('DestinationIp', {}, peer(rule.destination)),
    element('SourcePort', {}, portOf(rule.sourcePorts)),
    element('SourcePortRange', {}, portsOf(rule.sourcePorts)),
    element('SourceIp', {}, peer(rule.source)),
    element('Direction', {}, rule.direction),
    bool('EnableLogging', false),
  )

/** The interface that NAT rules are on: that of the external network. */
export interface NatInterface {
  readonly name: string
  readonly href: string
  readonly type: string
}

const natRule = (rule: NatRule, { name, href, type }: NatInterface): Element => {
  const isSource = rule.kind === 'snat'
  const [original, translated] = isSource
    ? [rule.internal, rule.external]
    : [rule.external, rule.internal]
  return element(
    'NatRule',
    {},
    rule.description !== undefined && element('Description', {}, rule.description),
    element('RuleType', {}, isSource ? 'SNAT' : 'DNAT'),
    bool('IsEnabled', isRuleEnabled(rule)),
    element('Id', {}, rule.id),
    element(
      'GatewayNatRule',
      {},
      element('Interface', { type, name, href }),
      element('OriginalIp', {}, original),
      !isSource && element('OriginalPort', {}, rule.kind === 'forward' ? rule.port : 'any'),
      element('TranslatedIp', {}, translated),
      !isSource &&
        element('TranslatedPort', {}, rule.kind === 'forward' ? rule.internalPort : 'any'),
      !isSource && element('Protocol', {}, rule.kind === 'forward' ? rule.protocol : 'any'),
    ),
  )
}

const staticRoute = ({ name, network, nexthop }: EdgeRoute): Element =>
  element(
    'StaticRoute',
    {},
    name !== undefined && element('Name', {}, name),
    element('Network', {}, network),
    element('NextHopIp', {}, nexthop),
  )

/** What an edge gateway does with packets. */
export const edgeServices = (
  { firewall, nat, routes }: EdgeServices,
  outside: NatInterface,
): Element =>
  element(
    'EdgeGatewayServiceConfiguration',
    {},
    element(
      'FirewallService',
      {},
      bool('IsEnabled', firewall.enabled),
      element('DefaultAction', {}, firewall.otherwise),
      bool('LogDefaultAction', false),
      ...firewall.rules.map(firewallRule),
    ),
    element(
      'NatService',
      {},
      bool('IsEnabled', true),
      ...nat.map((rule) => natRule(rule, outside)),
    ),
    element('StaticRoutingService', {}, bool('IsEnabled', true), ...routes.map(staticRoute)),
  )
