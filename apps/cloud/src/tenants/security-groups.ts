import { Fault } from '@skerry/fault'
import type { OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { orConflict } from './accounts.ts'

export type SecurityGroupRow = Selectable<CloudTables['security_group']>

export interface GroupLabel {
  readonly key: string
  readonly value: string
}

/** Packets that a group allows. */
export interface GroupRule {
  readonly direction: 'in' | 'out'
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'any'
  /** Of the destination. Default: all. */
  readonly ports?: { readonly low: number; readonly high: number }
  /** A block of addresses, such as 10.0.0.0/8. */
  readonly block?: string
  readonly peer?: PeerName
}

/** A security group as a request names it; one has a name where it has no id. */
export interface PeerName {
  readonly id?: string
  readonly name?: string
}

export interface WantedSecurityGroup {
  readonly name: string
  readonly description?: string
  readonly labels: readonly GroupLabel[]
  readonly limitsIn: boolean
  readonly limitsOut: boolean
  readonly rules: readonly GroupRule[]
}

export interface ChangedSecurityGroup extends Omit<WantedSecurityGroup, 'name'> {
  readonly name?: string
  /** The version that the caller has read. */
  readonly version?: number
}

/** A group with what its document shows. */
export interface WholeSecurityGroup {
  readonly group: SecurityGroupRow
  readonly labels: readonly GroupLabel[]
  readonly rules: readonly (Omit<GroupRule, 'peer'> & { readonly peer?: Required<PeerName> })[]
  readonly vms: {
    readonly first: readonly { readonly id: VmId; readonly name: string }[]
    readonly total: number
  }
  /** Whether the hosts have the networks of the organisation as they are. */
  readonly ready: boolean
}

const GROUPS_MAX = 64
const MEMBERS_SHOWN = 128

export const findSecurityGroup = (
  db: Kysely<CloudTables>,
  id: string,
): Promise<SecurityGroupRow | undefined> =>
  db.selectFrom('security_group').selectAll().where('id', '=', id).executeTakeFirst()

export const securityGroupsOf = (
  db: Kysely<CloudTables>,
  org: OrgId,
): Promise<Pick<SecurityGroupRow, 'id' | 'name'>[]> =>
  db
    .selectFrom('security_group')
    .select(['id', 'name'])
    .where('org', '=', org)
    .orderBy('name')
    .execute()

export async function readWholeGroup(
  db: Kysely<CloudTables>,
  group: SecurityGroupRow,
): Promise<WholeSecurityGroup> {
  const { org, id } = group
  const labels = await db
    .selectFrom('security_group_label')
    .select(['key', 'value'])
    .where('org', '=', org)
    .where('security_group', '=', id)
    .orderBy('key')
    .execute()
  const members = await db
    .selectFrom('security_group_member as member')
    .innerJoin('vm', (join) =>
      join.onRef('vm.org', '=', 'member.org').onRef('vm.id', '=', 'member.vm'),
    )
    .select(['vm.id', 'vm.name', sql<string>`count(*) over ()`.as('total')])
    .where('member.org', '=', org)
    .where('member.security_group', '=', id)
    .where('vm.deleted_at', 'is', null)
    .orderBy('vm.name')
    .orderBy('vm.id')
    .limit(MEMBERS_SHOWN)
    .execute()
  const { rows } = await sql<{
    ready: boolean
  }>`select networks_projected(${org}) as ready`.execute(db)
  return {
    group,
    labels,
    rules: await rulesOf(db, group),
    vms: { first: members, total: Number(members[0]?.total ?? 0) },
    ready: rows[0]?.ready === true,
  }
}

async function rulesOf(
  db: Kysely<CloudTables>,
  { org, id }: SecurityGroupRow,
): Promise<WholeSecurityGroup['rules']> {
  const rows = await db
    .selectFrom('security_group_rule as rule')
    .leftJoin('security_group as peer', (join) =>
      join.onRef('peer.org', '=', 'rule.org').onRef('peer.id', '=', 'rule.peer'),
    )
    .select(['direction', 'protocol', 'low', 'high', 'block', 'rule.peer', 'peer.name'])
    .where('rule.org', '=', org)
    .where('rule.security_group', '=', id)
    .orderBy('place')
    .execute()
  return rows.map(({ direction, protocol, low, high, block, peer, name }) => ({
    direction,
    protocol,
    ...(low !== null && high !== null && { ports: { low, high } }),
    ...(block !== null && { block }),
    ...(peer !== null && { peer: { id: peer, name: name ?? '' } }),
  }))
}

/** The groups of an organisation change one after the other. Changes of labels notice it: see the migration. */
async function lockGroups(tx: Tx, org: OrgId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('security groups/' || ${org}::text, 0))`.execute(
    tx,
  )
}

const inUse = (name: string): string => `security group ${name} already exists`

export async function addSecurityGroup(
  tx: Tx,
  principal: Principal,
  org: OrgId,
  wanted: WantedSecurityGroup,
): Promise<SecurityGroupRow> {
  await lockGroups(tx, org)
  if ((await securityGroupsOf(tx, org)).length >= GROUPS_MAX) {
    throw new Fault('conflict', `an organisation can have at most ${GROUPS_MAX} security groups`, {
      hint: 'delete one that has no VMs, or add rules to one that exists',
    })
  }
  const { name, description = '', limitsIn, limitsOut } = wanted
  const group = await orConflict(inUse(name), () =>
    tx
      .insertInto('security_group')
      .values({ org, name, description, limits_in: limitsIn, limits_out: limitsOut })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await writeParts(tx, group, wanted)
  await emitGroupEvent(tx, principal, group, 'created')
  return group
}

export async function changeSecurityGroup(
  tx: Tx,
  principal: Principal,
  { id, org }: Pick<SecurityGroupRow, 'id' | 'org'>,
  wanted: ChangedSecurityGroup,
): Promise<SecurityGroupRow> {
  await lockGroups(tx, org)
  const before = await findSecurityGroup(tx, id)
  if (!before) throw gone()
  if (wanted.version !== undefined && wanted.version !== before.version) {
    throw new Fault(
      'conflict',
      `security group ${before.name} has changed: it is version ${before.version}`,
      {
        hint: 'read it again, and repeat the change',
      },
    )
  }
  const { name = before.name, description = before.description, limitsIn, limitsOut } = wanted
  const group = await orConflict(inUse(name), () =>
    tx
      .updateTable('security_group')
      .set({
        name,
        description,
        limits_in: limitsIn,
        limits_out: limitsOut,
        version: before.version + 1,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  for (const table of ['security_group_label', 'security_group_rule'] as const) {
    await tx.deleteFrom(table).where('org', '=', org).where('security_group', '=', id).execute()
  }
  await writeParts(tx, group, wanted)
  await emitGroupEvent(tx, principal, group, 'changed')
  return group
}

const gone = (): Fault => new Fault('conflict', 'the security group was deleted in the meantime')

export async function deleteSecurityGroup(
  tx: Tx,
  principal: Principal,
  { id, org }: Pick<SecurityGroupRow, 'id' | 'org'>,
): Promise<void> {
  await lockGroups(tx, org)
  const group = await findSecurityGroup(tx, id)
  if (!group) throw gone()
  const users = await tx
    .selectFrom('security_group_rule as rule')
    .innerJoin('security_group as other', (join) =>
      join.onRef('other.org', '=', 'rule.org').onRef('other.id', '=', 'rule.security_group'),
    )
    .select('other.name')
    .distinct()
    .where('rule.org', '=', org)
    .where('rule.peer', '=', id)
    .where('rule.security_group', '<>', id)
    .orderBy('other.name')
    .execute()
  if (users.length > 0) {
    const names = users.map(({ name }) => name).join(', ')
    throw new Fault('conflict', `security group ${group.name} is a peer in rules of ${names}`, {
      hint: 'remove these rules first',
    })
  }
  await tx.deleteFrom('security_group').where('org', '=', org).where('id', '=', id).execute()
  await emitGroupEvent(tx, principal, group, 'deleted')
}

async function writeParts(
  tx: Tx,
  group: SecurityGroupRow,
  { labels, rules }: Pick<WantedSecurityGroup, 'labels' | 'rules'>,
): Promise<void> {
  const own = { org: group.org, security_group: group.id }
  if (labels.length > 0) {
    await tx
      .insertInto('security_group_label')
      .values(labels.map(({ key, value }) => ({ ...own, key, value })))
      .execute()
  }
  if (rules.length === 0) return
  const known = await securityGroupsOf(tx, group.org)
  const rows = rules.map(({ direction, protocol, ports, block, peer }, place) => ({
    ...own,
    place,
    direction,
    protocol,
    low: ports?.low ?? null,
    high: ports?.high ?? null,
    block: block ?? null,
    peer: peer === undefined ? null : peerAmong(known, peer),
  }))
  await tx.insertInto('security_group_rule').values(rows).execute()
}

/** Groups of other organisations are not among them. */
function peerAmong(
  groups: readonly Pick<SecurityGroupRow, 'id' | 'name'>[],
  { id, name }: PeerName,
): string {
  const found = groups.find((each) => (id === undefined ? each.name === name : each.id === id))
  if (found) return found.id
  throw new Fault('invalid', `there is no security group ${id ?? name} in this organisation`, {
    hint: 'create the peer first',
  })
}

const emitGroupEvent = (
  tx: Tx,
  principal: Principal,
  { org, id, name }: SecurityGroupRow,
  what: 'created' | 'changed' | 'deleted',
): Promise<void> =>
  emitEvent(tx, {
    kind: `security-group.${what}`,
    org,
    details: { ...by(principal), securityGroup: id, name },
  })
