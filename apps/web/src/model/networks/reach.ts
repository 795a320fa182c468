// Who reaches whom: what the documents of networks and edge gateways say together.
import { blocksOverlap, isAddress, isWithin, readBlock } from '@skerry/vm/ipv4'

import type { EdgeGatewayDocument, FirewallRuleDocument } from '../../api/edge-documents.ts'
import {
  firewallRulesOf,
  innerInterfacesOf,
  isAnyText,
  isRuleOn,
  natKindOf,
  natRulesOf,
  ownAddressOf,
  protocolsText,
  servicesOf,
  uplinkOf,
} from './edge-gateway.ts'
import { isRange, type NetworkKind } from './network.ts'

/** open: everyone. some: some of the sources or ports. blocked: no one. */
export type Passage = 'open' | 'some' | 'blocked'

export interface ReachPort {
  /** Where the outside connects, such as 203.0.113.7:443. */
  readonly outside: string
  /** Where it leads. */
  readonly inside: string
  /** tcp or udp; undefined: all of them. */
  readonly protocol: string | undefined
  readonly passage: Passage
}

export interface ReachDrop {
  readonly text: string
  /** Whose packets: a word, an address, a network or a range. */
  readonly source: string
}

export interface ReachGateway {
  readonly name: string
  readonly href: string
  readonly external: string
  readonly address: string
  /** The names of its networks. */
  readonly networks: readonly string[]
  readonly ports: readonly ReachPort[]
  /** What its VMs may not send. */
  readonly outDrops: readonly ReachDrop[]
  /** What happens to what comes in and no rule matches. */
  readonly otherwise: 'allow' | 'drop'
}

export interface ReachNetwork {
  readonly name: string
  readonly href: string
  readonly kind: NetworkKind
  /** Of a direct network: the external network that it is. */
  readonly external?: string | undefined
  /** Empty: the cloud does not know its addresses. */
  readonly range: string
  readonly vms: number
  /** The names of some of its VMs. */
  readonly vmNames: readonly string[]
}

export interface ReachFacts {
  readonly gateways: readonly ReachGateway[]
  readonly networks: readonly ReachNetwork[]
}

interface Incoming {
  readonly external: string
  readonly internal: string
  readonly protocol: string | undefined
  readonly port: number | undefined
}

/** Whether a side of a rule contains an address. */
function contains(side: string, address: string, isInside: boolean): boolean {
  const word = side.toLowerCase()
  if (word === 'any') return true
  if (word === 'internal' || word === 'external') return (word === 'internal') === isInside
  if (isAddress(side)) return side === address
  return isRange(side) && isWithin(address, readBlock(side))
}

function matches(rule: FirewallRuleDocument, packet: Incoming): 'whole' | 'part' | 'no' {
  const { destinationIp, destinationPortRange, protocols, sourceIp } = rule
  const isMeant =
    contains(destinationIp, packet.external, false) ||
    contains(destinationIp, packet.internal, true)
  if (!isMeant) return 'no'
  const name = packet.protocol
  const isAnyProtocol = protocols.any === true
  if (name !== undefined && !isAnyProtocol && !protocolsText(rule).split(', ').includes(name))
    return 'no'
  const [low = 0, high = low] = (destinationPortRange ?? '').split('-').map(Number)
  const hasAllPorts = isAnyText(destinationPortRange)
  if (!hasAllPorts && packet.port !== undefined && (packet.port < low || packet.port > high))
    return 'no'
  const isWhole =
    isAnyText(sourceIp) &&
    (name !== undefined || isAnyProtocol) &&
    (hasAllPorts || packet.port !== undefined) &&
    isAnyText(rule.sourcePortRange)
  return isWhole ? 'whole' : 'part'
}

/** What the firewall does with a published port: the first rule that matches decides. */
function passageOf(gateway: EdgeGatewayDocument, packet: Incoming): Passage {
  const { firewallService } = servicesOf(gateway)
  if (firewallService?.isEnabled === false) return 'open'
  let isPartly = false
  for (const rule of firewallRulesOf(servicesOf(gateway))) {
    if (!isRuleOn(rule) || rule.direction === 'out') continue
    const match = matches(rule, packet)
    if (match === 'whole') {
      const decided = rule.policy === 'allow' ? 'open' : 'blocked'
      return isPartly ? 'some' : decided
    }
    // A part that is dropped before all is allowed, or allowed before all is dropped.
    if (match === 'part') isPartly = true
  }
  if (isPartly) return 'some'
  return firewallService?.defaultAction === 'allow' ? 'open' : 'blocked'
}

function portsOf(gateway: EdgeGatewayDocument): ReachPort[] {
  return natRulesOf(servicesOf(gateway)).flatMap((rule) => {
    const kind = natKindOf(rule)
    if (kind === 'source' || !isRuleOn(rule)) return []
    const { originalIp, originalPort, translatedIp, translatedPort, protocol } = rule.gatewayNatRule
    const isPort = kind === 'forward'
    const packet = {
      external: originalIp,
      internal: translatedIp,
      protocol: isPort ? (protocol ?? 'tcp') : undefined,
      port: isPort ? Number(originalPort) : undefined,
    }
    return [
      {
        outside: isPort ? `${originalIp}:${originalPort}` : originalIp,
        inside: isPort ? `${translatedIp}:${translatedPort}` : translatedIp,
        protocol: packet.protocol,
        passage: passageOf(gateway, packet),
      },
    ]
  })
}

const outDropText = (rule: FirewallRuleDocument): string => {
  const ports = isAnyText(rule.destinationPortRange) ? '' : ` ${rule.destinationPortRange}`
  return `${protocolsText(rule)}${ports}: ${rule.sourceIp} → ${rule.destinationIp}`
}

export function reachGatewayOf(gateway: EdgeGatewayDocument): ReachGateway {
  const services = servicesOf(gateway)
  const isFirewallOn = services.firewallService?.isEnabled ?? true
  return {
    name: gateway.name,
    href: gateway.href,
    external: uplinkOf(gateway)?.name ?? '',
    address: ownAddressOf(gateway),
    networks: innerInterfacesOf(gateway).map(({ name, network }) => name ?? network.name ?? ''),
    ports: portsOf(gateway),
    outDrops: firewallRulesOf(services)
      .filter((rule) => isRuleOn(rule) && rule.direction === 'out' && rule.policy === 'drop')
      .map((rule) => ({ text: outDropText(rule), source: rule.sourceIp })),
    otherwise: isFirewallOn ? (services.firewallService?.defaultAction ?? 'drop') : 'allow',
  }
}

/** Whether some of the addresses of a network are meant by the source of a rule. */
function isFrom(source: string, range: string): boolean {
  const isBlock = isAddress(source) || isRange(source)
  if (!isBlock || !isRange(range)) return source.toLowerCase() !== 'external'
  return blocksOverlap(readBlock(source), readBlock(range))
}

/** A line of the table that says the same as the drawing. */
export interface ReachRow {
  readonly from: string
  readonly to: string
  readonly by: string
  readonly passage: Passage
}

/** The words that the rows need; pages give them in their language. */
export interface ReachWords {
  readonly outside: string
  readonly anythingElse: string
  readonly eachOther: string
  readonly isolated: string
}

export function reachRows(
  { gateways, networks }: ReachFacts,
  { outside, anythingElse, eachOther, isolated }: ReachWords,
): ReachRow[] {
  const rangeOf = (network: string): string =>
    networks.find(({ name }) => name === network)?.range ?? ''
  return [
    ...gateways.flatMap(({ name, ports, networks: inner, outDrops, otherwise }): ReachRow[] => [
      ...ports.map((port) => ({
        from: outside,
        to: port.inside,
        by: `${name}, ${port.protocol === undefined ? '' : `${port.protocol} `}${port.outside}`,
        passage: port.passage,
      })),
      {
        from: outside,
        to: `${anythingElse} ${inner.join(', ')}`,
        by: name,
        passage: otherwise === 'allow' ? 'open' : 'blocked',
      },
      ...inner.map((network) => ({
        from: network,
        to: outside,
        by: name,
        passage: outDrops.some(({ source }) => isFrom(source, rangeOf(network)))
          ? ('some' as const)
          : ('open' as const),
      })),
      ...outDrops.map(({ text }) => ({
        from: inner.join(', '),
        to: text,
        by: name,
        passage: 'blocked' as const,
      })),
      ...(inner.length > 1
        ? [{ from: inner.join(', '), to: eachOther, by: name, passage: 'open' as const }]
        : []),
    ]),
    ...networks
      .filter(({ kind }) => kind === 'direct')
      .flatMap(({ name, external = '' }): ReachRow[] => [
        { from: outside, to: name, by: external, passage: 'open' },
        { from: name, to: outside, by: external, passage: 'open' },
      ]),
    ...networks
      .filter(({ kind }) => kind === 'isolated')
      .map(({ name }) => ({
        from: name,
        to: outside,
        by: isolated,
        passage: 'blocked' as const,
      })),
  ]
}
