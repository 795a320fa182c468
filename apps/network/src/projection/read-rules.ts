// The rules of an edge gateway as PostgreSQL stores them. Cells checked them; they are checked again, because they become matches of flows.
import { configShape } from '@skerry/service'
import { Type, type Static } from 'typebox'

const closed = { additionalProperties: false }
const Id = Type.String({ minLength: 1, maxLength: 64 })
const Enabled = Type.Optional(Type.Boolean())
const Text = Type.String({ minLength: 1, maxLength: 64 })
const Port = Type.Integer({ minimum: 1, maximum: 65_535 })
const Ports = Type.Object({ low: Port, high: Port }, closed)

const NatRule = Type.Union([
  Type.Object(
    { id: Id, enabled: Enabled, kind: Type.Literal('one-to-one'), external: Text, internal: Text },
    closed,
  ),
  Type.Object(
    {
      id: Id,
      enabled: Enabled,
      kind: Type.Literal('forward'),
      protocol: Type.Union([Type.Literal('tcp'), Type.Literal('udp')]),
      external: Text,
      port: Port,
      internal: Text,
      internalPort: Port,
    },
    closed,
  ),
  Type.Object(
    { id: Id, enabled: Enabled, kind: Type.Literal('snat'), external: Text, internal: Text },
    closed,
  ),
])
export type NatRule = Static<typeof NatRule>
export type ForwardRule = Extract<NatRule, { kind: 'forward' }>

const FirewallRule = Type.Object(
  {
    id: Id,
    enabled: Enabled,
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
export type FirewallRule = Static<typeof FirewallRule>
export type PortRange = Static<typeof Ports>

const Firewall = Type.Object(
  {
    enabled: Type.Boolean(),
    /** What happens to inbound packets that no rule matches. Outbound ones pass. */
    otherwise: Type.Union([Type.Literal('allow'), Type.Literal('drop')]),
    rules: Type.Array(FirewallRule, { maxItems: 128 }),
  },
  closed,
)
export type EdgeFirewall = Static<typeof Firewall>

const EdgeRoute = Type.Object({ id: Id, network: Text, nexthop: Text }, closed)
export type EdgeRoute = Static<typeof EdgeRoute>

const natRules = configShape(Type.Array(NatRule, { maxItems: 128 }))
const firewall = configShape(Firewall)
const routes = configShape(Type.Array(EdgeRoute, { maxItems: 32 }))

const isEnabled = ({ enabled = true }: { readonly enabled?: boolean }): boolean => enabled

export const readNat = (value: unknown, of: string): readonly NatRule[] =>
  natRules.check(value, `the NAT rules of ${of}`).filter(isEnabled)

export function readFirewall(value: unknown, of: string): EdgeFirewall {
  const read = firewall.check(value, `the firewall of ${of}`)
  return { ...read, rules: read.rules.filter(isEnabled) }
}

export const readRoutes = (value: unknown, of: string): readonly EdgeRoute[] =>
  routes.check(value, `the static routes of ${of}`)
