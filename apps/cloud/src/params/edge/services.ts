import { Fault } from '@skerry/fault'
import { edgeRuleLimits, firewallProtocols, type PortRange } from '@skerry/vm'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import type {
  WantedFirewallRule,
  WantedNatRule,
  WantedServices,
} from '../../domain/edge-services.ts'
import { childText, readBoolean } from '../child-text.ts'
import { readRoot } from '../named.ts'
import { onlyChild } from '../network.ts'
import type { RequestDocument } from '../request-document.ts'

const SHAPE = 'EdgeGatewayServiceConfiguration'
const DESCRIPTION_MAX = 256
const NAME_MAX = 64

const invalid = (message: string): Fault => new Fault('invalid', message)
const trimmed = (root: Element, name: string): string => childText(root, name)?.trim() ?? ''

/** Number, state and description of a rule. */
function ofRule(rule: Element) {
  const id = trimmed(rule, 'Id')
  const description = trimmed(rule, 'Description')
  if (description.length > DESCRIPTION_MAX) {
    throw invalid(`Description of a rule must have at most ${DESCRIPTION_MAX} characters`)
  }
  return {
    ...(id !== '' && { id }),
    ...(readBoolean(rule, 'IsEnabled') === false && { enabled: false }),
    ...(description !== '' && { description }),
  }
}

function rulesIn(service: Element, name: string, most: number): readonly Element[] {
  const rules = childrenByLocalName(service, name)
  if (rules.length > most)
    throw invalid(`an edge gateway can have at most ${most} ${name} elements`)
  return rules
}

function portIn(name: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw invalid(`${name} must be a port from 1 to 65535, not ${text}`)
}

const isAny = (text: string): boolean => ['', '-1', 'any'].includes(text.toLowerCase())

function natRule(rule: Element): WantedNatRule {
  const type = trimmed(rule, 'RuleType')
  const translation = onlyChild(rule, 'GatewayNatRule')
  if (!translation) throw invalid('a NatRule needs a GatewayNatRule')
  const [original, translated] = [
    trimmed(translation, 'OriginalIp'),
    trimmed(translation, 'TranslatedIp'),
  ]
  if (original === '' || translated === '') {
    throw invalid('a GatewayNatRule needs OriginalIp and TranslatedIp')
  }
  if (type === 'SNAT') {
    return { ...ofRule(rule), kind: 'snat', external: translated, internal: original }
  }
  if (type !== 'DNAT') throw invalid('RuleType must be DNAT or SNAT')
  const [external, internal] = [original, translated]
  const port = trimmed(translation, 'OriginalPort')
  if (isAny(port)) return { ...ofRule(rule), kind: 'one-to-one', external, internal }
  const protocol = trimmed(translation, 'Protocol').toLowerCase() || 'tcp'
  if (protocol !== 'tcp' && protocol !== 'udp') {
    throw invalid('Protocol of a port must be tcp or udp: for both, write two rules')
  }
  const to = trimmed(translation, 'TranslatedPort')
  return {
    ...ofRule(rule),
    kind: 'forward',
    protocol,
    external,
    port: portIn('OriginalPort', port),
    internal,
    internalPort: portIn('TranslatedPort', isAny(to) ? port : to),
  }
}

/** The range if there is one, otherwise the port. */
function portsIn(rule: Element, port: string, range: string): PortRange | undefined {
  const written = trimmed(rule, range)
  if (isAny(written)) {
    const single = trimmed(rule, port)
    if (isAny(single)) return undefined
    const only = portIn(port, single)
    return { low: only, high: only }
  }
  const [low = '', high = low, ...rest] = written.split('-').map((each) => each.trim())
  if (rest.length > 0) throw invalid(`${range} must be Any, a port or a range such as 8000-8099`)
  return { low: portIn(range, low), high: portIn(range, high) }
}

function protocolsIn(rule: Element): WantedFirewallRule['protocols'] {
  const named = onlyChild(rule, 'Protocols')
  if (!named) return ['any']
  if (childText(named, 'Other') !== undefined) {
    throw invalid('Protocols must be Tcp, Udp, Icmp or Any')
  }
  const written = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`
  const protocols = firewallProtocols.filter((name) => readBoolean(named, written(name)) === true)
  if (protocols.length === 0) throw invalid('Protocols must name one of Tcp, Udp, Icmp and Any')
  return protocols
}

function choice<const Word extends string>(
  root: Element,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const written = trimmed(root, name)
  if (written === '') return undefined
  const found = words.find((each) => each === written)
  if (found !== undefined) return found
  throw invalid(`${name} must be ${words.join(' or ')}`)
}

const PEER_MAX = 64

function peerIn(rule: Element, name: string): string {
  const written = trimmed(rule, name) || 'any'
  if (written.length > PEER_MAX) throw invalid(`${name} must have at most ${PEER_MAX} characters`)
  const word = written.toLowerCase()
  return ['any', 'internal', 'external'].includes(word) ? word : written.replaceAll(' ', '')
}

function firewallRule(rule: Element): WantedFirewallRule {
  const direction = choice(rule, 'Direction', ['in', 'out'])
  const sourcePorts = portsIn(rule, 'SourcePort', 'SourcePortRange')
  const destinationPorts = portsIn(rule, 'Port', 'DestinationPortRange')
  const protocols = protocolsIn(rule)
  if ((sourcePorts || destinationPorts) && protocols.every((each) => each === 'icmp')) {
    throw invalid('a FirewallRule for Icmp has no ports')
  }
  return {
    ...ofRule(rule),
    policy: choice(rule, 'Policy', ['allow', 'drop']) ?? 'allow',
    ...(direction && { direction }),
    protocols,
    source: peerIn(rule, 'SourceIp'),
    ...(sourcePorts && { sourcePorts }),
    destination: peerIn(rule, 'DestinationIp'),
    ...(destinationPorts && { destinationPorts }),
  }
}

function requireEnabled(service: Element, name: string): void {
  if (readBoolean(service, 'IsEnabled') !== false) return
  throw new Fault('invalid', `${name} cannot be disabled`, { hint: 'disable or delete its rules' })
}

function routesIn(service: Element): NonNullable<WantedServices['routes']> {
  requireEnabled(service, 'StaticRoutingService')
  return rulesIn(service, 'StaticRoute', edgeRuleLimits.routes).map((route) => {
    const name = trimmed(route, 'Name')
    if (name.length > NAME_MAX) {
      throw invalid(`Name of a StaticRoute must have at most ${NAME_MAX} characters`)
    }
    return {
      ...(name !== '' && { name }),
      network: trimmed(route, 'Network'),
      nexthop: trimmed(route, 'NextHopIp'),
    }
  })
}

/** The version in a document that a client has read. */
export function versionIn(root: Element): { readonly version?: number } {
  const written = attribute(root, 'version')
  if (written === undefined) return {}
  if (/^\d{1,9}$/.test(written)) return { version: Number(written) }
  throw invalid('version must be a number')
}

/** The services that an element contains. */
export function servicesIn(root: Element): WantedServices {
  const [firewall, nat, routing] = ['FirewallService', 'NatService', 'StaticRoutingService'].map(
    (name) => onlyChild(root, name),
  )
  if (nat) requireEnabled(nat, 'NatService')
  return {
    ...versionIn(root),
    ...(firewall && {
      firewall: {
        enabled: readBoolean(firewall, 'IsEnabled') ?? true,
        otherwise: choice(firewall, 'DefaultAction', ['allow', 'drop']) ?? 'drop',
        rules: rulesIn(firewall, 'FirewallRule', edgeRuleLimits.firewall).map(firewallRule),
      },
    }),
    ...(nat && { nat: rulesIn(nat, 'NatRule', edgeRuleLimits.nat).map(natRule) }),
    ...(routing && { routes: routesIn(routing) }),
  }
}

/** EdgeGatewayServiceConfiguration: services to replace. */
export const edgeServices: RequestDocument<WantedServices> = {
  media: 'admin.edgeGatewayServiceConfiguration',
  shape: SHAPE,
  example: () =>
    element(
      SHAPE,
      {},
      element(
        'FirewallService',
        {},
        element('IsEnabled', {}, 'true'),
        element('DefaultAction', {}, 'drop'),
        element(
          'FirewallRule',
          {},
          element('IsEnabled', {}, 'true'),
          element('Description', {}, 'The web server'),
          element('Policy', {}, 'allow'),
          element('Protocols', {}, element('Tcp', {}, 'true')),
          element('DestinationPortRange', {}, '443'),
          element('DestinationIp', {}, 'internal'),
          element('SourceIp', {}, 'Any'),
          element('Direction', {}, 'in'),
        ),
      ),
    ),
  read(raw) {
    const services = servicesIn(readRoot(raw, SHAPE))
    if (services.firewall || services.nat || services.routes) return services
    throw new Fault('invalid', `${SHAPE} names no service`, {
      hint: 'FirewallService, NatService or StaticRoutingService',
    })
  },
}
