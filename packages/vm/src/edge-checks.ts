// What rules of an edge gateway must be. Cells ask before they store rules, network servers before they project them: the same answer.
import { edgeRuleLimits, isRuleEnabled } from './edge-rules.ts'
import type { EdgeFirewall, EdgeRoute, FirewallRule, NatRule, PortRange } from './edge-rules.ts'
import {
  addressNumber,
  blocksOverlap,
  blockText,
  isAddress,
  isBlockText,
  isWithin,
  readBlock,
} from './ipv4.ts'
import type { AddressBlock } from './ipv4.ts'

/** What rules of an edge gateway may name. */
export interface EdgeSurroundings {
  /** Its own address on the external network. */
  readonly address: string
  /** The addresses of the external network that its organisation took. */
  readonly addresses: readonly string[]
  /** The networks behind it. */
  readonly networks: readonly AddressBlock[]
  /** The external network, where next hops may be. Missing where the other routers are those of other organisations. */
  readonly outside?: AddressBlock
}

/** The external addresses that rules of this kind may use, in their order. */
export const usableAddresses = (
  kind: NatRule['kind'],
  { address, addresses }: Pick<EdgeSurroundings, 'address' | 'addresses'>,
): readonly string[] => {
  const taken = addresses.filter((each) => each !== address)
  // All networks leave by the gateway's own address, so no single guest can have it.
  return kind === 'one-to-one' ? taken : [address, ...taken]
}

/** Why an edge gateway cannot have these NAT rules. Rules that are not enabled may translate what others translate. */
export function whyNotNat(rules: readonly NatRule[], around: EdgeSurroundings): string | undefined {
  if (rules.length > edgeRuleLimits.nat) return tooMany('NAT rules', edgeRuleLimits.nat)
  const taken = new Set<string>()
  for (const rule of rules) {
    const wrong = whyNotNatRule(rule, around) ?? (isRuleEnabled(rule) && whyTaken(rule, taken))
    if (typeof wrong === 'string') return `NAT rule ${rule.id}: ${wrong}`
  }
  return sameId(rules, 'NAT rules')
}

const tooMany = (what: string, most: number): string =>
  `an edge gateway can have at most ${most} ${what}`

function sameId(rules: readonly { readonly id: string }[], what: string): string | undefined {
  const seen = new Set<string>()
  for (const { id } of rules) {
    if (seen.has(id)) return `two ${what} have the id ${id}`
    seen.add(id)
  }
  return undefined
}

function whyNotNatRule(rule: NatRule, around: EdgeSurroundings): string | undefined {
  const { kind, external, internal } = rule
  if (!isAddress(external)) return `${quoted(external)} must be an IPv4 address`
  const usable = usableAddresses(kind, around)
  if (!usable.includes(external)) {
    const which = usable.length === 0 ? 'none; take one first' : usable.join(', ')
    return `${external} is not an external address for it; available: ${which}`
  }
  if (kind === 'snat' ? !isBlockText(internal) : !isAddress(internal)) {
    return `${quoted(internal)} must be an IPv4 address${kind === 'snat' ? ' or network, such as 10.0.0.0/24' : ''}`
  }
  const own = readBlock(internal)
  const within = ({ base, prefix }: AddressBlock): boolean =>
    prefix <= own.prefix && blocksOverlap({ base, prefix }, own)
  if (!around.networks.some(within)) return `${internal} is in no network of the edge gateway`
  if (kind !== 'forward') return undefined
  return isPort(rule.port) && isPort(rule.internalPort)
    ? undefined
    : 'a port must be from 1 to 65535'
}

/** Two rules cannot translate the same. */
function whyTaken(rule: NatRule, taken: Set<string>): string | undefined {
  const { kind, external, internal } = rule
  const translated =
    kind === 'snat'
      ? [`addresses ${blockText(readBlock(internal))}`]
      : kind === 'forward'
        ? [`${rule.protocol} port ${rule.port} of ${external}`]
        : [`address ${external}`, `addresses ${internal}/32`]
  const twice = translated.find((each) => taken.has(each))
  for (const each of translated) taken.add(each)
  return twice === undefined ? undefined : `another rule translates ${twice}`
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535
const quoted = (text: string): string => JSON.stringify(text)

/** Why an edge gateway cannot have this firewall. */
export function whyNotFirewall({ rules }: EdgeFirewall): string | undefined {
  if (rules.length > edgeRuleLimits.firewall) {
    return tooMany('firewall rules', edgeRuleLimits.firewall)
  }
  for (const rule of rules) {
    const wrong = whyNotFirewallRule(rule)
    if (wrong !== undefined) return `firewall rule ${rule.id}: ${wrong}`
  }
  return sameId(rules, 'firewall rules')
}

function whyNotFirewallRule(rule: FirewallRule): string | undefined {
  const { source, destination, protocols, sourcePorts, destinationPorts } = rule
  const unknown = [source, destination].find((each) => !isPeer(each))
  if (unknown !== undefined) {
    return `${quoted(unknown)} must be an IPv4 address or network, such as 10.0.0.0/24, a range such as 10.0.0.5-10.0.0.9, any, internal or external`
  }
  if (protocols.length === 0) return 'it needs a protocol'
  return [sourcePorts, destinationPorts].every((each) => each === undefined || isPortRange(each))
    ? undefined
    : 'ports must be from 1 to 65535, the lower one first'
}

const isPortRange = ({ low, high }: PortRange): boolean =>
  isPort(low) && isPort(high) && low <= high

/** A side of a firewall rule: a word, an address, a network or a range. */
function isPeer(text: string): boolean {
  if (['any', 'internal', 'external'].includes(text) || isBlockText(text)) return true
  const [low = '', high = '', ...rest] = text.split('-')
  if (rest.length > 0 || !isAddress(low) || !isAddress(high)) return false
  return addressNumber(low) <= addressNumber(high)
}

/** Why an edge gateway cannot have these static routes. */
export function whyNotRoutes(
  routes: readonly EdgeRoute[],
  { networks, outside }: Pick<EdgeSurroundings, 'networks' | 'outside'>,
): string | undefined {
  if (routes.length > edgeRuleLimits.routes) return tooMany('static routes', edgeRuleLimits.routes)
  const reached = [...(outside ? [outside] : []), ...networks]
  const seen = new Set<string>()
  for (const { id, network, nexthop } of routes) {
    const wrong = whyNotRoute(network, nexthop, reached)
    if (wrong !== undefined) return `static route ${id}: ${wrong}`
    const block = blockText(readBlock(network))
    if (seen.has(block)) return `static route ${id}: another one leads to ${block}`
    seen.add(block)
  }
  return sameId(routes, 'static routes')
}

function whyNotRoute(
  network: string,
  nexthop: string,
  reached: readonly AddressBlock[],
): string | undefined {
  if (!isBlockText(network)) {
    return `${quoted(network)} must be an IPv4 address or network, such as 10.0.0.0/24`
  }
  if (readBlock(network).prefix === 0) return 'all other packets go to the external network'
  if (!isAddress(nexthop)) return `${quoted(nexthop)} must be an IPv4 address`
  if (reached.some((block) => isWithin(nexthop, block))) return undefined
  return reached.length === 0
    ? `${nexthop} must be in a network of the edge gateway`
    : `${nexthop} must be in one of ${reached.map(blockText).join(', ')}`
}
