// Publishing a port of a VM: the port of an external address leads to it, and the firewall lets it pass. Both are one change.
import type { Element } from '@skerry/xml'

import { Failure } from '../../terminal/failure.ts'
import {
  addFirewallRule,
  addNatRule,
  removeFirewallRules,
  removeNatRules,
} from './change-services.ts'
import { firewallIn, natRulesIn, type SeenFirewallRule, type SeenNatRule } from './seen-gateway.ts'

export interface WantedPublication {
  readonly vm: string
  readonly external: string
  readonly port: number
  readonly internal: string
  readonly internalPort: number
  readonly protocol: 'tcp' | 'udp'
  /** Who may connect: an address, a range, or any. */
  readonly from: string
}

type Outside = Pick<WantedPublication, 'external' | 'port' | 'protocol'>

/** A rule that passes inbound packets to exactly this port of this external address. */
const passes = (rule: SeenFirewallRule, { external, port, protocol }: Outside): boolean =>
  rule.policy === 'allow' &&
  rule.direction === 'in' &&
  rule.destination === external &&
  rule.ports === String(port) &&
  rule.protocols.length === 1 &&
  rule.protocols[0] === protocol

/**
 * The services with the port published. What is there already is not added again. The rule of the firewall is the first one: it means
 * one port of one address, and a general rule that denies more must not come before it.
 */
export function publishPort(services: Element, wanted: WantedPublication): Element {
  const { vm, external, port, internal, internalPort, protocol, from } = wanted
  const isForwarded = natRulesIn(services).some(
    (rule) =>
      rule.kind === 'forward' &&
      rule.enabled &&
      rule.external === external &&
      rule.port === port &&
      rule.protocol === protocol &&
      rule.internal === internal &&
      rule.internalPort === internalPort,
  )
  const forward = {
    kind: 'forward',
    external,
    port,
    internal,
    internalPort,
    protocol,
  } as const
  const forwarded = isForwarded ? services : addNatRule(services, forward)
  const { rules } = firewallIn(services)
  if (rules.some((rule) => rule.enabled && passes(rule, wanted) && rule.source === from)) {
    return forwarded
  }
  const [first] = rules
  return addFirewallRule(
    forwarded,
    {
      policy: 'allow',
      direction: 'in',
      protocols: [protocol],
      source: from,
      destination: external,
      ports: String(port),
      description: `${vm}, port ${internalPort}`,
    },
    first?.id,
  )
}

export interface PublishedPort {
  readonly address: string
  readonly port: number
}

/** The forwards of a port of a guest. */
const forwardsTo = (
  services: Element,
  to: Pick<WantedPublication, 'internal' | 'protocol'>,
): readonly SeenNatRule[] =>
  natRulesIn(services).filter(
    ({ kind, internal, protocol }) =>
      kind === 'forward' && internal === to.internal && protocol === to.protocol,
  )

/** The services without the forwards of this external port to this guest, and without the rules that let it pass. */
export function unpublishPort(
  services: Element,
  {
    vm,
    internal,
    port,
    protocol,
  }: Pick<WantedPublication, 'vm' | 'internal' | 'port' | 'protocol'>,
): Element {
  const all = forwardsTo(services, { internal, protocol })
  const found = all.filter((rule) => rule.port === port)
  if (found.length === 0) {
    const others = all.map((rule) => String(rule.port)).join(', ')
    throw new Failure('refused', `port ${port} of ${vm} is not published`, {
      hint: others === '' ? 'skerry nat list lists all rules' : `published: ${others}`,
    })
  }
  const without = removeNatRules(
    services,
    found.map(({ id }) => id),
  )
  const passed = firewallIn(services).rules.filter((rule) =>
    found.some(({ external }) => passes(rule, { external, port, protocol })),
  )
  return removeFirewallRules(
    without,
    passed.map(({ id }) => id),
  )
}

/** Where a TCP port of a guest is reached from outside, if it is. */
export function publishedAt(
  services: Element,
  internal: string,
  internalPort: number,
): PublishedPort | undefined {
  const [forward] = forwardsTo(services, { internal, protocol: 'tcp' }).filter(
    (rule) => rule.enabled && rule.internalPort === internalPort,
  )
  if (forward && forward.port !== null) return { address: forward.external, port: forward.port }
  const whole = natRulesIn(services).find(
    (rule) => rule.kind === 'one-to-one' && rule.enabled && rule.internal === internal,
  )
  return whole && { address: whole.external, port: internalPort }
}
