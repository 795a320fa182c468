// Changes of the services of an edge gateway: a document in, the changed document out. The rules that a change does not mean stay as the
// cloud wrote them, with their ids.
import { blockText, readBlock } from '@skerry/vm'
import { childrenByLocalName, element, type Element } from '@skerry/xml'

import { Failure } from '../../terminal/failure.ts'
import {
  firewallIn,
  natRulesIn,
  routesIn,
  seenFirewallRule,
  seenNatRule,
  seenRoute,
  type SeenRoute,
} from './seen-gateway.ts'

export interface NatRuleToAdd {
  readonly kind: 'forward' | 'one-to-one' | 'snat'
  readonly external: string
  readonly internal: string
  readonly protocol?: 'tcp' | 'udp'
  readonly port?: number
  readonly internalPort?: number
}

export interface FirewallRuleToAdd {
  readonly policy: 'allow' | 'deny'
  readonly direction: 'in' | 'out'
  readonly protocols: readonly string[]
  readonly source: string
  readonly destination: string
  readonly ports?: string | undefined
  readonly description?: string | undefined
}

const RULE = {
  NatService: 'NatRule',
  FirewallService: 'FirewallRule',
  StaticRoutingService: 'StaticRoute',
} as const
type ServiceName = keyof typeof RULE

/** A service without rules, for a gateway whose document has none. */
const emptyService = (name: ServiceName): Element =>
  name === 'FirewallService'
    ? element(
        name,
        {},
        element('IsEnabled', {}, 'true'),
        element('DefaultAction', {}, 'drop'),
        element('LogDefaultAction', {}, 'false'),
      )
    : element(name, {}, element('IsEnabled', {}, 'true'))

/** The same services, with other rules in one of them. */
function withRules(
  services: Element,
  name: ServiceName,
  change: (rules: readonly Element[]) => readonly Element[],
): Element {
  const found = childrenByLocalName(services, name)[0]
  const before = found ?? emptyService(name)
  const rules = childrenByLocalName(before, RULE[name])
  const rest = before.children.filter((part) => typeof part === 'string' || !rules.includes(part))
  const after: Element = { ...before, children: [...rest, ...change(rules)] }
  const { children } = services
  return {
    ...services,
    children: found
      ? children.map((part) => (part === found ? after : part))
      : [...children, after],
  }
}

function natRuleOf(wanted: NatRuleToAdd): Element {
  const { kind, external, internal, protocol, port, internalPort } = wanted
  const isSource = kind === 'snat'
  return element(
    'NatRule',
    {},
    element('RuleType', {}, isSource ? 'SNAT' : 'DNAT'),
    element('IsEnabled', {}, 'true'),
    element(
      'GatewayNatRule',
      {},
      element('OriginalIp', {}, isSource ? internal : external),
      kind === 'forward' && element('OriginalPort', {}, port),
      element('TranslatedIp', {}, isSource ? external : internal),
      kind === 'forward' && element('TranslatedPort', {}, internalPort ?? port),
      kind === 'forward' && element('Protocol', {}, protocol ?? 'tcp'),
    ),
  )
}

/** In the order of the schema. */
const protocolElements = ['Icmp', 'Any', 'Tcp', 'Udp'] as const

const protocolsOf = (named: readonly string[]): Element =>
  element(
    'Protocols',
    {},
    ...protocolElements
      .filter((name) => named.includes(name.toLowerCase()))
      .map((name) => element(name, {}, 'true')),
  )

function firewallRuleOf(wanted: FirewallRuleToAdd): Element {
  const { policy, direction, protocols, source, destination, ports, description } = wanted
  return element(
    'FirewallRule',
    {},
    element('IsEnabled', {}, 'true'),
    element('MatchOnTranslate', {}, 'false'),
    description !== undefined && element('Description', {}, description),
    element('Policy', {}, policy === 'allow' ? 'allow' : 'drop'),
    protocolsOf(protocols),
    element('DestinationPortRange', {}, ports ?? 'Any'),
    element('DestinationIp', {}, destination),
    element('SourcePortRange', {}, 'Any'),
    element('SourceIp', {}, source),
    element('Direction', {}, direction),
    element('EnableLogging', {}, 'false'),
  )
}

const noRule = (id: string, list: string): Failure =>
  new Failure('refused', `there is no rule ${id}`, { hint: `${list} lists them` })

/** The external address and port of a rule, which no second rule may have. */
const outsideOf = (rule: {
  readonly external: string
  readonly port?: number | null
  readonly protocol?: string
}): string => `${rule.external}:${rule.port}/${rule.protocol}`

/** Adds a NAT rule at the end. The same external port twice is refused: packets could go to one guest only. */
export function addNatRule(services: Element, wanted: NatRuleToAdd): Element {
  const taken =
    wanted.kind === 'forward' &&
    natRulesIn(services).find(
      (each) =>
        each.kind === 'forward' && outsideOf(each) === outsideOf({ protocol: 'tcp', ...wanted }),
    )
  if (taken) {
    throw new Failure(
      'refused',
      `port ${taken.port} of ${taken.external} is forwarded to ${taken.internal}, port ${taken.internalPort}, already`,
      { hint: `choose another port, or remove rule ${taken.id}: skerry nat rm ${taken.id}` },
    )
  }
  return withRules(services, 'NatService', (rules) => [...rules, natRuleOf(wanted)])
}

export function removeNatRules(services: Element, ids: readonly string[]): Element {
  const known = natRulesIn(services).map(({ id }) => id)
  const unknown = ids.find((id) => !known.includes(id))
  if (unknown !== undefined) throw noRule(unknown, 'skerry nat list')
  return withRules(services, 'NatService', (rules) =>
    rules.filter((rule) => !ids.includes(seenNatRule(rule).id)),
  )
}

const placeOf = (rules: readonly Element[], id: string): number => {
  const at = rules.findIndex((rule) => seenFirewallRule(rule).id === id)
  if (at === -1) throw noRule(id, 'skerry firewall list')
  return at
}

/** Adds a firewall rule before another one. Default: at the end. */
export const addFirewallRule = (
  services: Element,
  wanted: FirewallRuleToAdd,
  before?: string,
): Element =>
  withRules(services, 'FirewallService', (rules) =>
    rules.toSpliced(
      before === undefined ? rules.length : placeOf(rules, before),
      0,
      firewallRuleOf(wanted),
    ),
  )

export function removeFirewallRules(services: Element, ids: readonly string[]): Element {
  const known = firewallIn(services).rules.map(({ id }) => id)
  const unknown = ids.find((id) => !known.includes(id))
  if (unknown !== undefined) throw noRule(unknown, 'skerry firewall list')
  return withRules(services, 'FirewallService', (rules) =>
    rules.filter((rule) => !ids.includes(seenFirewallRule(rule).id)),
  )
}

/** Moves a rule before another one, or to the end: the first rule that matches a packet decides. */
export const moveFirewallRule = (
  services: Element,
  id: string,
  before: string | undefined,
): Element =>
  withRules(services, 'FirewallService', (rules) => {
    const at = placeOf(rules, id)
    const moved = rules.slice(at, at + 1)
    if (before === id) return rules
    const others = rules.toSpliced(at, 1)
    const to = before === undefined ? others.length : placeOf(others, before)
    return others.toSpliced(to, 0, ...moved)
  })

/** Two spellings of a network are one: 10.1.2.3/16 and 10.1.0.0/16. */
const targetOf = (network: string): string => blockText(readBlock(network))

/** Adds a static route at the end. A second one to the same network is refused: packets could take one way only. */
export function addRoute(services: Element, { network, nexthop, name }: SeenRoute): Element {
  const target = targetOf(network)
  const known = routesIn(services).find((each) => targetOf(each.network) === target)
  if (known) {
    throw new Failure('refused', `packets to ${target} go to ${known.nexthop} already`, {
      hint: `remove that route first: skerry route rm ${target}`,
    })
  }
  const added = element(
    'StaticRoute',
    {},
    name !== '' && element('Name', {}, name),
    element('Network', {}, target),
    element('NextHopIp', {}, nexthop),
  )
  return withRules(services, 'StaticRoutingService', (routes) => [...routes, added])
}

export function removeRoutes(services: Element, networks: readonly string[]): Element {
  const known = routesIn(services).map(({ network }) => targetOf(network))
  const targets = networks.map(targetOf)
  const unknown = targets.find((target) => !known.includes(target))
  if (unknown !== undefined) {
    throw new Failure('refused', `there is no route to ${unknown}`, {
      hint: 'skerry route list lists them',
    })
  }
  return withRules(services, 'StaticRoutingService', (routes) =>
    routes.filter((route) => !targets.includes(targetOf(seenRoute(route).network))),
  )
}
