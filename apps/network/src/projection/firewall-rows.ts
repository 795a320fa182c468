// The firewall of an edge gateway. It is applied at the card of each guest behind the gateway, not at the gateway: no host is a
// bottleneck, and connections survive when another host carries the gateway.
import { set, uuid } from '@skerry/ovsdb'
import type { EdgeFirewall } from '@skerry/vm'

import { derivedId } from './derived-id.ts'
import { matchesOf } from './firewall-match.ts'
import type { EdgeNat } from './nat-rows.ts'
import type { UnitRows } from './northbound-row.ts'

/** The first rule has the highest priority. There are at most 128, so all are above the defaults. */
const FIRST_PRIORITY = 2000
const DEFAULT_PRIORITY = 1000

export interface FirewallContext {
  readonly gateway: string
  readonly firewall: EdgeFirewall
  readonly nat: EdgeNat
  /** The networks behind the gateway, such as 10.0.0.0/24. */
  readonly own: readonly string[]
  /** The cards on them. */
  readonly nics: readonly string[]
}

export function addFirewall(rows: UnitRows, context: FirewallContext): void {
  const { gateway, firewall, nat, own, nics } = context
  if (!firewall.enabled || own.length === 0) return
  const group = `gateway_${gateway.replaceAll('-', '')}`
  const networks = `{${own.join(', ')}}`
  // Packets between networks of the gateway are not its firewall's business.
  const sides = {
    in: { direction: 'to-lport', match: `outport == @${group} && ip4 && ip4.src != ${networks}` },
    out: { direction: 'from-lport', match: `inport == @${group} && ip4 && ip4.dst != ${networks}` },
  }
  const add = (
    words: readonly string[],
    side: 'in' | 'out',
    {
      policy,
      priority,
      match = '',
    }: { policy: 'allow' | 'drop'; priority: number; match?: string },
  ) =>
    rows.add('ACL', derivedId(gateway, 'acl', ...words), {
      direction: sides[side].direction,
      priority,
      match: match === '' ? sides[side].match : `${sides[side].match} && ${match}`,
      action: policy === 'allow' ? 'allow-related' : 'drop',
    })
  const acls = firewall.rules.flatMap((rule, place) =>
    matchesOf(rule, nat).map((match, at) =>
      add(['rule', rule.id, String(at)], rule.direction, {
        policy: rule.policy,
        priority: FIRST_PRIORITY - place,
        match,
      }),
    ),
  )
  const defaults = [
    add(['default', 'in'], 'in', { policy: firewall.otherwise, priority: DEFAULT_PRIORITY }),
    // Stateful, so that responses to it may come in.
    add(['default', 'out'], 'out', { policy: 'allow', priority: DEFAULT_PRIORITY }),
  ]
  rows.add('Port_Group', derivedId(gateway, 'port group'), {
    name: group,
    ports: set(nics.map(uuid)),
    acls: set([...acls, ...defaults]),
  })
}
