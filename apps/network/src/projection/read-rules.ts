import { Type } from '@skerry/schema'
// The rules of an edge gateway as PostgreSQL stores them. Cells checked them; they are checked again, because they become matches of flows.
import { configShape } from '@skerry/service'
import {
  edgeRuleLimits,
  isRuleEnabled,
  type EdgeFirewall,
  type EdgeRoute,
  type NatRule as StoredNatRule,
} from '@skerry/vm'

const closed = { additionalProperties: false }
const Id = Type.String({ minLength: 1, maxLength: 64 })
const ofRule = {
  id: Id,
  enabled: Type.Optional(Type.Boolean()),
  description: Type.Optional(Type.String({ maxLength: 256 })),
}
const Text = Type.String({ minLength: 1, maxLength: 64 })
const Port = Type.Integer({ minimum: 1, maximum: 65_535 })
const Ports = Type.Object({ low: Port, high: Port }, closed)

const NatRule = Type.Union([
  Type.Object(
    { ...ofRule, kind: Type.Literal('one-to-one'), external: Text, internal: Text },
    closed,
  ),
  Type.Object(
    {
      ...ofRule,
      kind: Type.Literal('forward'),
      protocol: Type.Union([Type.Literal('tcp'), Type.Literal('udp')]),
      external: Text,
      port: Port,
      internal: Text,
      internalPort: Port,
    },
    closed,
  ),
  Type.Object({ ...ofRule, kind: Type.Literal('snat'), external: Text, internal: Text }, closed),
])

const FirewallRule = Type.Object(
  {
    ...ofRule,
    policy: Type.Union([Type.Literal('allow'), Type.Literal('drop')]),
    direction: Type.Union([Type.Literal('in'), Type.Literal('out')]),
    protocols: Type.Array(
      Type.Union([
        Type.Literal('tcp'),
        Type.Literal('udp'),
        Type.Literal('icmp'),
        Type.Literal('any'),
      ]),
      { minItems: 1 },
    ),
    source: Text,
    sourcePorts: Type.Optional(Ports),
    destination: Text,
    destinationPorts: Type.Optional(Ports),
  },
  closed,
)

const Firewall = Type.Object(
  {
    enabled: Type.Boolean(),
    otherwise: Type.Union([Type.Literal('allow'), Type.Literal('drop')]),
    rules: Type.Array(FirewallRule, { maxItems: edgeRuleLimits.firewall }),
  },
  closed,
)

const Route = Type.Object(
  { id: Id, name: Type.Optional(Text), network: Text, nexthop: Text },
  closed,
)

const natRules = configShape(Type.Array(NatRule, { maxItems: edgeRuleLimits.nat }))
const firewall = configShape(Firewall)
const routes = configShape(Type.Array(Route, { maxItems: edgeRuleLimits.routes }))

export const readNat = (value: unknown, of: string): readonly StoredNatRule[] =>
  natRules.check(value, `the NAT rules of ${of}`).filter(isRuleEnabled)

export function readFirewall(value: unknown, of: string): EdgeFirewall {
  const read = firewall.check(value, `the firewall of ${of}`)
  return { ...read, rules: read.rules.filter(isRuleEnabled) }
}

export const readRoutes = (value: unknown, of: string): readonly EdgeRoute[] =>
  routes.check(value, `the static routes of ${of}`)
