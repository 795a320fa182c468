// The same on a terminal: the command lines of networks, edge gateways and security groups. tests/web-commands.test.ts parses them with
// the commands of the CLI.
import type {
  FirewallRuleDocument,
  NatRuleDocument,
  StaticRouteDocument,
} from '../../api/edge-documents.ts'
import type { GroupRuleDocument } from '../../api/security-group-documents.ts'
import { options, shellQuoted } from '../commands.ts'
import { isAnyText, natKindOf, protocolsText, type PortToPublish } from './edge-gateway.ts'
import { labelsIn, labelText, type GroupDirection, type WrittenGroup } from './security-group.ts'

export function natCommand(rule: NatRuleDocument, edge: string): string {
  const { originalIp, originalPort, translatedIp, translatedPort, protocol } = rule.gatewayNatRule
  const kind = natKindOf(rule)
  if (kind === 'oneToOne')
    return `skerry nat add one-to-one ${originalIp} ${translatedIp} --edge ${shellQuoted(edge)}`
  if (kind === 'source')
    return `skerry nat add snat ${translatedIp} ${originalIp} --edge ${shellQuoted(edge)}`
  const more = { protocol: protocol === 'udp' ? 'udp' : undefined, edge }
  return `skerry nat add forward ${originalIp}:${originalPort} ${translatedIp}:${translatedPort}${options(more)}`
}

const unlessAny = (text: string | undefined): string | undefined =>
  isAnyText(text) ? undefined : text

/** `before`: the rule that is the first now; the new one stands before it. */
export function firewallCommand(
  rule: FirewallRuleDocument,
  edge: string,
  before: string | undefined,
): string {
  const given = {
    out: rule.direction === 'out',
    protocol: protocolsText(rule).replaceAll(', ', ','),
    port: unlessAny(rule.destinationPortRange),
    from: unlessAny(rule.sourceIp),
    to: unlessAny(rule.destinationIp),
    description: rule.description,
    before,
    edge,
  }
  return `skerry firewall ${rule.policy === 'allow' ? 'allow' : 'deny'}${options(given)}`
}

export function routeCommand({ network, nextHopIp, name }: StaticRouteDocument, edge: string) {
  const given = { name, edge }
  return `skerry route add ${shellQuoted(network)} ${shellQuoted(nextHopIp)}${options(given)}`
}

/** `own`: the address of the edge gateway, which is the default. */
export function publishCommand(
  vm: string,
  { port, internalPort, protocol, external }: PortToPublish,
  { card, own }: { readonly card: number; readonly own: string },
): string {
  const given = {
    port: port === internalPort ? String(port) : `${port}:${internalPort}`,
    protocol: protocol === 'udp' ? 'udp' : undefined,
    address: external === own ? undefined : external,
    card: card === 0 ? undefined : String(card),
  }
  return `skerry publish ${shellQuoted(vm)}${options(given)}`
}

/** What the tabs of an edge gateway do, on a terminal. */
export const gatewayCommands = {
  nat: (edge: string) => [
    `skerry nat list --edge ${shellQuoted(edge)}`,
    `skerry nat rm RULE --edge ${shellQuoted(edge)}`,
  ],
  firewall: (edge: string) => [
    `skerry firewall list --edge ${shellQuoted(edge)}`,
    `skerry firewall move RULE --before RULE --edge ${shellQuoted(edge)}`,
    `skerry firewall rm RULE --edge ${shellQuoted(edge)}`,
  ],
  addresses: (edge: string) => [
    `skerry address list --edge ${shellQuoted(edge)}`,
    `skerry address take --edge ${shellQuoted(edge)}`,
    `skerry address release ADDRESS --edge ${shellQuoted(edge)}`,
  ],
  routes: (edge: string) => [
    `skerry route list --edge ${shellQuoted(edge)}`,
    `skerry route rm NETWORK --edge ${shellQuoted(edge)}`,
  ],
} as const

/** undefined: `skerry` creates groups that limit what comes in. */
export function groupCommand(group: WrittenGroup): string | undefined {
  if (!group.limitsIn) return undefined
  const given = { label: labelsIn(group.labels).map(labelText), out: group.limitsOut }
  return `skerry security-group create ${shellQuoted(group.name)}${options(given)}`
}

export const groupRuleCommand = (
  group: string,
  rule: GroupRuleDocument,
  direction: GroupDirection,
): string => {
  const given = {
    out: direction === 'out',
    protocol: rule.protocol,
    port: rule.portRange,
    peer: rule.cidr ?? rule.peerGroup?.name,
  }
  return `skerry security-group allow ${shellQuoted(group)}${options(given)}`
}

export const removeGroupCommand = (group: string): string =>
  `skerry security-group rm ${shellQuoted(group)}`

export const removeGroupRuleCommand = (group: string, rule: number): string =>
  `skerry security-group rm ${shellQuoted(group)} --rule ${rule}`

export const directNetworkCommand = (
  name: string,
  external: string,
  { org, vdc }: { readonly org: string; readonly vdc: string },
): string =>
  `skerry network create ${shellQuoted(name)} --direct ${shellQuoted(external)} --org ${shellQuoted(org)} --vdc ${shellQuoted(vdc)}`

export function labelCommand(vm: string, key: string, value: string): string {
  const label = `${key}=${value}`
  return `skerry label set ${shellQuoted(vm)} ${shellQuoted(label)}`
}

export const removeLabelCommand = (vm: string, key: string): string =>
  `skerry label rm ${shellQuoted(vm)} ${shellQuoted(key)}`
