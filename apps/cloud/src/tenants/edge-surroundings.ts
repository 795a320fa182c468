import { Fault } from '@skerry/fault'
import { blockAround, type EdgeSurroundings } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { CloudTables, Tx } from '../database/tables.ts'
import { requireServices } from '../domain/edge-services.ts'

export type EdgeGatewayRow = Selectable<CloudTables['edge_gateway']>

/** The external network of an edge gateway, as its organisation sees it. */
export type OutsideNetwork = Pick<
  Selectable<CloudTables['external_network']>,
  'id' | 'name' | 'kind' | 'gateway' | 'prefix'
>

/** An edge gateway with what it leads to. */
export interface WholeEdgeGateway {
  readonly gateway: EdgeGatewayRow
  readonly outside: OutsideNetwork
  /** The external addresses that its organisation took, in their order. */
  readonly addresses: readonly string[]
  /** Its networks, in the order of their names. */
  readonly networks: readonly Pick<
    Selectable<CloudTables['network']>,
    'id' | 'name' | 'base' | 'prefix' | 'gateway'
  >[]
}

/** What organisations see of an external network: row-level security shows those that something of theirs leads to. */
export const findOutside = (
  db: Kysely<CloudTables>,
  id: string,
): Promise<OutsideNetwork | undefined> =>
  db
    .selectFrom('external_network')
    .select(['id', 'name', 'kind', 'gateway', 'prefix'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

/** An edge gateway, also if it was deleted: a repeated request gets the one that it created. */
export async function readWholeEdgeGateway(
  db: Kysely<CloudTables>,
  id: string,
): Promise<WholeEdgeGateway> {
  const gateway = await db
    .selectFrom('edge_gateway')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const outside = await db
    .selectFrom('external_network')
    .select(['id', 'name', 'kind', 'gateway', 'prefix'])
    .where('id', '=', gateway.external)
    .executeTakeFirstOrThrow()
  const addresses = await db
    .selectFrom('external_address')
    .select('address')
    .where('edge_gateway', '=', id)
    .where('purpose', '=', 'tenant')
    .orderBy('number')
    .execute()
  const networks = await db
    .selectFrom('network')
    .select(['id', 'name', 'base', 'prefix', 'gateway'])
    .where('edge_gateway', '=', id)
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .orderBy('id')
    .execute()
  return { gateway, outside, addresses: addresses.map(({ address }) => address), networks }
}

/** What its rules may name. */
export const surroundingsOf = ({
  gateway,
  outside,
  addresses,
  networks,
}: WholeEdgeGateway): EdgeSurroundings => ({
  address: gateway.address,
  addresses,
  networks: networks.map(({ base, prefix }) => ({ base: Number(base), prefix: prefix ?? 0 })),
  // Hosts are the only way out of outbound. Its other addresses are edge gateways of other organisations, and nothing may arrive there.
  ...(outside.kind === 'provider' && { outside: blockAround(outside.gateway, outside.prefix) }),
})

/** Refuses a change of networks or addresses, made in this transaction, that rules of the edge gateway do not allow. */
export async function requireRulesFit(tx: Tx, id: string): Promise<void> {
  const whole = await readWholeEdgeGateway(tx, id)
  try {
    requireServices(whole.gateway, surroundingsOf(whole))
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    throw new Fault('conflict', `edge gateway ${whole.gateway.name} needs it: ${fault.message}`, {
      hint: 'change or delete the rule first',
    })
  }
}
