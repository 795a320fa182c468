import { Fault } from '@skerry/fault'
import {
  blockText,
  isBlockText,
  isWithin,
  readBlock,
  usableAddresses,
  whyNotFirewall,
  whyNotNat,
  whyNotRoutes,
  type EdgeFirewall,
  type EdgeRoute,
  type EdgeSurroundings,
  type FirewallRule,
  type NatRule,
} from '@skerry/vm'

/** What an edge gateway does with packets, as it is stored. */
export interface EdgeServices {
  readonly nat: readonly NatRule[]
  readonly firewall: EdgeFirewall
  readonly routes: readonly EdgeRoute[]
}

type Unnumbered<Rule> = Rule extends unknown ? Omit<Rule, 'id'> & { readonly id?: string } : never
export type WantedNatRule = Unnumbered<NatRule>
export type WantedFirewallRule = Omit<FirewallRule, 'id' | 'direction'> &
  Partial<Pick<FirewallRule, 'id' | 'direction'>>

/** Services as a client wants them. Those that are missing stay. */
export interface WantedServices {
  /** The version that the client has read. */
  readonly version?: number
  readonly nat?: readonly WantedNatRule[]
  readonly firewall?: Omit<EdgeFirewall, 'rules'> & {
    readonly rules: readonly WantedFirewallRule[]
  }
  readonly routes?: readonly Omit<EdgeRoute, 'id'>[]
}

export interface PlannedServices extends EdgeServices {
  /** The number of the next new rule. */
  readonly nextRule: number
}

/** The services after a request. Throws the reason if they cannot be so. */
export function planServices(
  before: PlannedServices,
  wanted: WantedServices,
  around: EdgeSurroundings,
): PlannedServices {
  let { nextRule } = before
  const number = <Rule extends { readonly id?: string }>(
    rules: readonly Rule[],
    earlier: readonly { readonly id: string }[],
  ) => {
    const known = new Set(earlier.map(({ id }) => id))
    return rules.map((rule): Rule & { readonly id: string } => {
      // Each number stands for one rule: a copy of a rule in the same request is a new one.
      if (rule.id !== undefined && known.delete(rule.id)) return { ...rule, id: rule.id }
      nextRule += 1
      return { ...rule, id: String(nextRule - 1) }
    })
  }
  const firewall = wanted.firewall && {
    ...wanted.firewall,
    rules: number(wanted.firewall.rules, before.firewall.rules).map((rule) => ({
      ...rule,
      direction: rule.direction ?? directionOf(rule, around),
    })),
  }
  const nat = wanted.nat && number(withoutPairs(wanted.nat), before.nat)
  const planned = {
    firewall: firewall ?? before.firewall,
    nat: nat ?? before.nat,
    routes: wanted.routes?.map(routeOf) ?? before.routes,
  }
  requireServices(planned, around)
  return { ...planned, nextRule }
}

/** A network is one spelling of itself, so it is the id of its route. */
const routeOf = (route: Omit<EdgeRoute, 'id'>): EdgeRoute => ({
  ...route,
  id: isBlockText(route.network) ? blockText(readBlock(route.network)) : route.network.slice(0, 64),
})

/** Refuses services that an edge gateway cannot have with these addresses and networks. */
export function requireServices(
  { nat, firewall, routes }: EdgeServices,
  around: EdgeSurroundings,
): void {
  const wrongNat = whyNotNat(nat, around)
  if (wrongNat !== undefined) {
    const usable = usableAddresses('forward', around).join(', ')
    throw new Fault('invalid', wrongNat, {
      hint: `ports can be forwarded from ${usable}; other addresses are taken with POST externalAddresses`,
    })
  }
  const wrong = whyNotFirewall(firewall) ?? whyNotRoutes(routes, around)
  if (wrong !== undefined) throw new Fault('invalid', wrong)
}

/** Clients of the original API write a whole address as two rules, one for each direction. */
function withoutPairs(rules: readonly WantedNatRule[]): readonly WantedNatRule[] {
  const whole = new Set(
    rules.flatMap(({ kind, external, internal }) =>
      kind === 'one-to-one' ? [`${external} ${internal}`] : [],
    ),
  )
  return rules.filter(
    ({ kind, external, internal }) =>
      kind !== 'snat' || !whole.has(`${external} ${internal.replace(/\/32$/, '')}`),
  )
}

/** A rule whose source is behind the gateway is for outbound packets. */
function directionOf(
  { source }: Pick<FirewallRule, 'source'>,
  { networks }: EdgeSurroundings,
): FirewallRule['direction'] {
  const [first = ''] = source.split(/[/-]/)
  const isInside =
    source === 'internal' ||
    (isBlockText(first) && networks.some((network) => isWithin(first, network)))
  return isInside ? 'out' : 'in'
}
