import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import { may, type Principal } from '../domain/authorize.ts'
import { planServices, type WantedServices } from '../domain/edge-services.ts'
import { orConflict } from './accounts.ts'
import {
  readWholeEdgeGateway,
  surroundingsOf,
  type EdgeGatewayRow,
  type WholeEdgeGateway,
} from './edge-surroundings.ts'
import { isZoneOpen, lockNetworks, noNetworks } from './network-rows.ts'
import type { VdcRow } from './orgs.ts'

export interface NewEdgeGateway {
  readonly name: string
  readonly description?: string
  /** The id of an external network. Default: the default one of the zone. */
  readonly external?: string
  readonly services?: WantedServices
}

export interface ChangedEdgeGateway extends Partial<NewEdgeGateway> {
  /** The version that the client has read. */
  readonly version?: number
}

const EDGE_GATEWAYS_MAX = 20
/** The name of the one that a vdc gets when it first needs one. */
const DEFAULT = 'default'

/** `gone`: also if it was deleted. */
export function findEdgeGateway(
  db: Kysely<CloudTables>,
  id: string,
  { gone = false }: { readonly gone?: boolean } = {},
): Promise<EdgeGatewayRow | undefined> {
  const query = db.selectFrom('edge_gateway').selectAll().where('id', '=', id)
  return (gone ? query : query.where('deleted_at', 'is', null)).executeTakeFirst()
}

/** Waits for all other changes of networks and edge gateways of its organisation: they change one after the other. */
export async function lockEdgeGateway(
  tx: Tx,
  { id, org }: Pick<EdgeGatewayRow, 'id' | 'org'>,
): Promise<WholeEdgeGateway> {
  await lockNetworks(tx, org)
  const whole = await readWholeEdgeGateway(tx, id)
  if (whole.gateway.deleted_at === null) return whole
  throw new Fault('conflict', 'the edge gateway was deleted in the meantime')
}

const inUse = (name: string): string => `edge gateway ${name} already exists`

export async function addEdgeGateway(
  tx: Tx,
  principal: Principal,
  vdc: VdcRow,
  { name, description = '', external, services }: NewEdgeGateway,
): Promise<EdgeGatewayRow> {
  if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
  if (!(await isZoneOpen(tx, vdc))) throw noNetworks(vdc.name)
  await lockNetworks(tx, vdc.org)
  await requireFew(tx, vdc.org)
  const outside = await externalFor(tx, vdc, external)
  const { rows } = await orConflict(inUse(name), () =>
    sql<{
      id: string | null
    }>`select make_edge_gateway(${vdc.org}, ${vdc.id}, ${name}, ${description}, ${outside}) as id`.execute(
      tx,
    ),
  )
  const id = rows[0]?.id ?? null
  if (id === null) throw notCarried()
  if (services) await writeGateway(tx, await readWholeEdgeGateway(tx, id), { services })
  const { gateway } = await readWholeEdgeGateway(tx, id)
  await emitEdgeEvent(tx, principal, gateway, 'created')
  return gateway
}

const notCarried = (): Fault =>
  new Fault(
    'conflict',
    'no host that is ready has the uplink of the external network, or its pool has no free address',
    { hint: 'connect the uplink of a host, or widen the IpRanges of the external network' },
  )

async function requireFew(tx: Tx, org: OrgId): Promise<void> {
  const { count } = await tx
    .selectFrom('edge_gateway')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('org', '=', org)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (count < EDGE_GATEWAYS_MAX) return
  throw new Fault('conflict', `an organisation can have at most ${EDGE_GATEWAYS_MAX} edge gateways`)
}

/** The named external network of the vdc's zone; otherwise the default one, or the outbound one. */
async function externalFor(tx: Tx, { zone }: VdcRow, id: string | undefined): Promise<string> {
  const all = await tx
    .selectFrom('external_network')
    .select(['id', 'is_default', 'kind'])
    .where('zone', '=', zone)
    .where('deleted_at', 'is', null)
    .execute()
  const found =
    id === undefined
      ? (all.find((each) => each.is_default) ?? all.find(({ kind }) => kind === 'outbound'))
      : all.find((each) => each.id === id)
  if (found) return found.id
  throw new Fault('invalid', 'external network not found in the zone of this vdc', {
    hint: 'GET /api/admin/extension/externalNetworks lists them',
  })
}

/** Replaces services; those that the request does not name stay. */
export async function configureServices(
  tx: Tx,
  principal: Principal,
  of: Pick<EdgeGatewayRow, 'id' | 'org'>,
  wanted: WantedServices,
): Promise<EdgeGatewayRow> {
  const whole = await lockEdgeGateway(tx, of)
  requireVersion(whole.gateway, wanted.version)
  const gateway = await writeGateway(tx, whole, { services: wanted })
  await emitEdgeEvent(tx, principal, gateway, 'changed')
  return gateway
}

function requireVersion({ name, version }: EdgeGatewayRow, read: number | undefined): void {
  if (read === undefined || read === version) return
  throw new Fault('conflict', `edge gateway ${name} has version ${version} now, not ${read}`, {
    hint: 'GET it again, and repeat the change',
  })
}

/** What is missing stays. */
async function writeGateway(
  tx: Tx,
  whole: WholeEdgeGateway,
  { name, description, services }: Pick<ChangedEdgeGateway, 'name' | 'description' | 'services'>,
): Promise<EdgeGatewayRow> {
  const { gateway } = whole
  const { id, nat, firewall, routes, next_rule: nextRule } = gateway
  const before = { nat, firewall, routes, nextRule }
  const planned = services ? planServices(before, services, surroundingsOf(whole)) : before
  const [named, described] = [name ?? gateway.name, description ?? gateway.description]
  const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`
  await orConflict(inUse(named), () =>
    sql`select write_edge_gateway(${id}, ${named}, ${described}, ${json(planned.nat)}, ${json(planned.firewall)},
      ${json(planned.routes)}, ${planned.nextRule})`.execute(tx),
  )
  return (await readWholeEdgeGateway(tx, id)).gateway
}

/** Organisations change names and services, administrators of the cloud also the external network. */
export async function changeEdgeGateway(
  tx: Tx,
  principal: Principal,
  of: Pick<EdgeGatewayRow, 'id' | 'org'>,
  { name, description, external, services, version }: ChangedEdgeGateway,
): Promise<EdgeGatewayRow> {
  const whole = await lockEdgeGateway(tx, of)
  const { gateway } = whole
  requireVersion(gateway, version ?? services?.version)
  if (gateway.name === DEFAULT && (name ?? DEFAULT) !== DEFAULT) {
    throw new Fault('conflict', `edge gateway ${DEFAULT} keeps its name`, {
      hint: 'networks that name no edge gateway are behind it: its vdc would get another one',
    })
  }
  if (external !== undefined && external !== gateway.external) {
    await move(tx, principal, whole, external)
  }
  const changed = await writeGateway(tx, await readWholeEdgeGateway(tx, gateway.id), {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(services && { services }),
  })
  await emitEdgeEvent(tx, principal, changed, 'changed')
  return changed
}

/** Connects an edge gateway to another external network: it gets another address there. */
async function move(
  tx: Tx,
  principal: Principal,
  { gateway, addresses }: WholeEdgeGateway,
  external: string,
): Promise<void> {
  if (!may(principal, 'external:admin')) {
    throw new Fault('forbidden', `the role ${principal.role} lacks the right external:admin`, {
      hint: 'administrators of the cloud connect edge gateways to external networks',
    })
  }
  const { name, nat, routes } = gateway
  const used = [
    ...(addresses.length > 0 ? ['external addresses'] : []),
    ...(nat.length > 0 ? ['NAT rules'] : []),
    ...(routes.length > 0 ? ['static routes'] : []),
  ]
  if (used.length > 0) {
    throw new Fault('conflict', `edge gateway ${name} has ${used.join(' and ')}`, {
      hint: 'an edge gateway without them can be connected to another external network',
    })
  }
  const vdc = await tx
    .selectFrom('vdc')
    .selectAll()
    .where('id', '=', gateway.vdc)
    .executeTakeFirstOrThrow()
  const outside = await externalFor(tx, vdc, external)
  const { rows } = await sql<{
    moved: boolean
  }>`select move_edge_gateway(${gateway.id}, ${outside}) as moved`.execute(tx)
  if (rows[0]?.moved !== true) throw notCarried()
}

export async function deleteEdgeGateway(
  tx: Tx,
  principal: Principal,
  of: Pick<EdgeGatewayRow, 'id' | 'org'>,
): Promise<EdgeGatewayRow> {
  const { gateway, networks, addresses } = await lockEdgeGateway(tx, of)
  const [network] = networks
  if (network) {
    throw new Fault('conflict', `network ${network.name} is behind edge gateway ${gateway.name}`, {
      hint: 'delete its networks first',
    })
  }
  if (addresses.length > 0) {
    throw new Fault(
      'conflict',
      `edge gateway ${gateway.name} has the external addresses ${addresses.join(', ')}`,
      { hint: 'release them first' },
    )
  }
  await tx.deleteFrom('external_address').where('edge_gateway', '=', gateway.id).execute()
  const deleted = await tx
    .updateTable('edge_gateway')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', gateway.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await emitEdgeEvent(tx, principal, deleted, 'deleted')
  return deleted
}

const emitEdgeEvent = (
  tx: Tx,
  principal: Principal,
  { org, id, name, vdc, version }: EdgeGatewayRow,
  what: 'created' | 'changed' | 'deleted',
): Promise<void> =>
  emitEvent(tx, {
    kind: `edge.${what}`,
    org,
    details: { ...by(principal), edgeGateway: id, name, vdc, version },
  })
