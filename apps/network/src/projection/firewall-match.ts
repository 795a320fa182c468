// Matches of firewall rules in OVN's language. Nothing of a tenant's text gets into one: only addresses and ports that were checked.
import { addressNumber, blockText, isAddress, type FirewallRule, type PortRange } from '@skerry/vm'

import { blocksBetween, checkedBlock } from './addresses.ts'
import type { EdgeNat } from './nat-rows.ts'

type Protocol = FirewallRule['protocols'][number]

/** Packets that a rule means: to some addresses, with some protocols and ports. */
interface RuleTarget {
  /** Undefined: all. */
  readonly addresses?: string | undefined
  readonly protocols: readonly Protocol[]
  readonly ports?: PortRange | undefined
}

/**
 * The matches of a rule, beside the port and the outside address that every rule has. None, if it can match no packet: a rule about
 * packets between networks of the same gateway, or to an external address that nothing translates.
 */
export function matchesOf(rule: FirewallRule, nat: EdgeNat): readonly string[] {
  const { direction, source, destination, protocols, destinationPorts: ports } = rule
  const isIn = direction === 'in'
  // Outside is where inbound packets come from and outbound ones go to.
  if ((isIn ? source : destination) === 'internal') return []
  if ((isIn ? destination : source) === 'external') return []
  const targets =
    isIn && isAddress(destination)
      ? translated(rule, nat)
      : [{ addresses: setOf(rule, destination), protocols, ports }]
  const from = equal('ip4.src', setOf(rule, source))
  return targets.map((target) =>
    [from, equal('ip4.dst', target.addresses), protocolsMatch(target, rule.sourcePorts)]
      .filter((each) => each !== undefined)
      .join(' && '),
  )
}

/** Packets arrive with the addresses and ports of the guest, so a rule for an external address is one for its guests. */
function translated(rule: FirewallRule, nat: EdgeNat): readonly RuleTarget[] {
  const { destination, protocols, destinationPorts: ports } = rule
  const whole = nat.oneToOne.find(({ external }) => external === destination)
  const forwards = nat.forwards.filter(({ external }) => external === destination)
  if (!whole && forwards.length === 0) return [{ addresses: destination, protocols, ports }]
  const through = forwards
    .filter(({ protocol }) => protocols.includes('any') || protocols.includes(protocol))
    .filter(({ port }) => !ports || (ports.low <= port && port <= ports.high))
    .map(({ protocol, internal, internalPort }) => ({
      addresses: internal,
      protocols: [protocol],
      ports: { low: internalPort, high: internalPort },
    }))
  return [...(whole ? [{ addresses: whole.internal, protocols, ports }] : []), ...through]
}

const equal = (field: string, addresses: string | undefined): string | undefined =>
  addresses === undefined ? undefined : `${field} == ${addresses}`

/** ADDRESS, ADDRESS/PREFIX, ADDRESS-ADDRESS, or a word for all. */
function setOf({ id }: FirewallRule, text: string): string | undefined {
  if (['any', 'internal', 'external'].includes(text)) return undefined
  const [low = '', high = '', ...rest] = text.split('-')
  if (rest.length === 0 && isAddress(low) && isAddress(high)) {
    const blocks = blocksBetween(addressNumber(low), addressNumber(high)).map(blockText)
    // An empty set would be an error of the language; this matches nothing, as a range that ends before it begins does.
    return blocks.length === 0 ? '255.255.255.255' : `{${blocks.join(', ')}}`
  }
  return blockText(checkedBlock(text, `firewall rule ${id}`))
}

function protocolsMatch(
  { protocols, ports }: RuleTarget,
  sourcePorts: PortRange | undefined,
): string | undefined {
  const hasPorts = ports !== undefined || sourcePorts !== undefined
  // Only these have ports: a rule for any protocol with a port is one for both.
  const all: readonly Protocol[] = hasPorts ? ['tcp', 'udp'] : ['any']
  const named = protocols.includes('any') ? all : protocols
  if (named.includes('any')) return undefined
  const each = [...new Set(named)].map((protocol) => {
    if (protocol === 'icmp') return 'icmp4'
    const range = (end: string, within: PortRange | undefined) =>
      within === undefined
        ? []
        : within.low === within.high
          ? [`${protocol}.${end} == ${within.low}`]
          : [`${within.low} <= ${protocol}.${end} <= ${within.high}`]
    const parts = [protocol, ...range('src', sourcePorts), ...range('dst', ports)]
    return `(${parts.join(' && ')})`
  })
  return `(${each.join(' || ')})`
}
