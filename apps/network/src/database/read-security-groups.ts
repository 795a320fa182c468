import { sql, type Kysely } from 'kysely'

import type { ProjectedSecurityGroup, SecurityRule } from '../projection/projected-cloud.ts'

interface RuleRow extends SecurityRule {
  readonly direction: 'in' | 'out'
}

interface GroupRow extends Pick<ProjectedSecurityGroup, 'org' | 'id'> {
  readonly limitsIn: boolean
  readonly limitsOut: boolean
  readonly rules: readonly RuleRow[]
}

export async function readSecurityGroups<DB>(
  database: Kysely<DB>,
  orgs: readonly string[],
): Promise<readonly ProjectedSecurityGroup[]> {
  const { rows } = await sql<GroupRow>`
    select security_group.org, security_group.id, limits_in as "limitsIn", limits_out as "limitsOut", coalesce((
      select jsonb_agg(jsonb_build_object('direction', direction, 'protocol', protocol, 'block', block, 'peer', peer,
        'ports', case when low is null then null else jsonb_build_object('low', low, 'high', high) end) order by place)
      from security_group_rule rule where rule.org = security_group.org and rule.security_group = security_group.id), '[]') as rules
    from security_group where security_group.org = any(${orgs}::uuid[])`.execute(database)
  return rows.map(({ org, id, limitsIn, limitsOut, rules }) => {
    const towards = (side: RuleRow['direction']) =>
      rules
        .filter(({ direction }) => direction === side)
        .map(({ protocol, ports, block, peer }) => ({ protocol, ports, block, peer }))
    return { org, id, in: limitsIn ? towards('in') : null, out: limitsOut ? towards('out') : null }
  })
}

/** The security groups of each VM that is in one. */
export async function readMembers<DB>(
  database: Kysely<DB>,
  orgs: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await sql<{ vm: string; groups: readonly string[] }>`
    select vm, array_agg(security_group::text order by security_group) as groups from security_group_member
    where org = any(${orgs}::uuid[]) group by vm`.execute(database)
  return new Map(rows.map(({ vm, groups }) => [vm, groups]))
}
