// Security groups at the cards of one unit: a network, or all networks behind an edge gateway. Their rows are in the unit of the cards,
// so that both are written in one transaction. A peer that is a group is recognised by the addresses of its cards in the same unit:
// packets from elsewhere have been translated, or their source is whatever the sender wrote.
import { set, uuid, type OvsdbAtom } from '@skerry/ovsdb'
import { blockText } from '@skerry/vm'

import { derivedId } from './derived-id.ts'
import { projectedNics } from './network-rows.ts'
import { none, type UnitRows } from './northbound-row.ts'
import type {
  ProjectedNetwork,
  ProjectedNic,
  ProjectedSecurityGroup,
  SecurityRule,
} from './projected-cloud.ts'
import { deniedMatches, groupMatches, type GroupAddresses } from './security-match.ts'

/** Above the firewall of the edge gateway, which has at most 2000. */
const priorities = { allowed: 3002, denied: 3001, otherwise: 1 } as const

const sides = {
  in: { direction: 'to-lport', port: 'outport', end: 'src' },
  out: { direction: 'from-lport', port: 'inport', end: 'dst' },
} as const
type Side = keyof typeof sides

export interface SecurityContext {
  /** The id of the network or edge gateway. */
  readonly owner: string
  readonly networks: readonly ProjectedNetwork[]
  readonly nics: readonly ProjectedNic[]
  readonly groups: readonly ProjectedSecurityGroup[]
}

/** Cards whose VMs are in the same groups have the same rules. */
interface CardClass {
  readonly name: string
  readonly groups: readonly ProjectedSecurityGroup[]
  readonly nics: readonly ProjectedNic[]
}

export function addSecurity(rows: UnitRows, context: SecurityContext): void {
  const { owner, networks } = context
  const peers = new Map<string, string>()
  const portGroupOf = (group: string): string => {
    const name = nameOf('peer', owner, group)
    peers.set(group, name)
    return name
  }
  const hasIpv6 = networks.some(({ ipv6Prefix }) => ipv6Prefix !== null)
  const addresses = { portGroupOf, versions: hasIpv6 ? ([4, 6] as const) : ([4] as const) }
  for (const each of classesOf(context)) {
    const acls = (['in', 'out'] as const).flatMap((side) =>
      addAcls(rows, context, each, side, addresses),
    )
    rows.add('Port_Group', derivedId(each.name), {
      name: each.name,
      ports: set(each.nics.map(({ id }) => uuid(id))),
      acls: set(acls),
    })
  }
  // OVN keeps a set of the addresses of each port group.
  for (const [group, name] of peers) {
    const members = projectedNics(context.nics).filter((nic) => nic.groups.includes(group))
    rows.add('Port_Group', derivedId(name), {
      name,
      ports: set(members.map(({ id }) => uuid(id))),
      acls: none,
    })
  }
}

const nameOf = (kind: 'class' | 'peer', ...words: readonly string[]): string =>
  `${kind}_${derivedId(kind, ...words).replaceAll('-', '')}`

function classesOf({ owner, nics, groups }: SecurityContext): readonly CardClass[] {
  const limiting = new Map(
    groups
      .filter((group) => group.in !== null || group.out !== null)
      .map((each) => [each.id, each]),
  )
  const limited = projectedNics(nics).flatMap((nic) => {
    const ids = nic.groups.filter((id) => limiting.get(id)?.org === nic.org).toSorted()
    return ids.length === 0 ? [] : [{ nic, ids }]
  })
  const classes = Map.groupBy(limited, ({ ids }) => ids.join(' '))
  return [...classes].map(([key, members]) => {
    const ids = key.split(' ')
    return {
      name: nameOf('class', owner, ...ids),
      groups: ids.flatMap((id) => limiting.get(id) ?? []),
      nics: members.map(({ nic }) => nic),
    }
  })
}

function addAcls(
  rows: UnitRows,
  { networks }: SecurityContext,
  { name, groups }: CardClass,
  side: Side,
  addresses: GroupAddresses,
): readonly OvsdbAtom[] {
  const limits = groups.flatMap((group) => (group[side] === null ? [] : [group[side]]))
  if (limits.length === 0) return []
  const rules: readonly SecurityRule[] = limits.flat()
  const { direction, port, end } = sides[side]
  const add = (what: keyof typeof priorities, match: string) =>
    rows.add('ACL', derivedId(name, side, what, match), {
      direction,
      priority: priorities[what],
      match: `${port} == @${name} && ${match}`,
      action: what === 'denied' ? 'drop' : 'allow-related',
    })
  return [
    ...dhcpMatches(networks, side).map((match) => add('allowed', match)),
    ...groupMatches(rules, end, addresses).map((match) => add('allowed', match)),
    ...deniedMatches(rules, end).map((match) => add('denied', match)),
    // Below the firewall, and stateful: without it OVN would not follow connections, and drop their replies.
    add('otherwise', 'ip'),
  ]
}

/** A guest gets its address whatever its groups are. OVN answers it, except on direct networks, where a server of the site does. */
function dhcpMatches(networks: readonly ProjectedNetwork[], side: Side): readonly string[] {
  const isDirect = networks.some(({ range }) => range === null)
  const [from, to] = side === 'out' ? [68, 67] : [67, 68]
  const packets = `ip4 && udp.src == ${from} && udp.dst == ${to}`
  if (isDirect) return [packets]
  if (side === 'in') return []
  const blocks = networks.flatMap(({ range }) => (range === null ? [] : [blockText(range)]))
  return [`${packets} && ip4.dst == {${['255.255.255.255', ...blocks.toSorted()].join(', ')}}`]
}
