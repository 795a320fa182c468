import { Fault } from '@skerry/fault'
import { addressNumber, isAddress } from '@skerry/vm'
import { sql } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { Tx } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { lockEdgeGateway } from './edge-gateways.ts'
import type { EdgeGatewayRow, WholeEdgeGateway } from './edge-surroundings.ts'
import { requireQuota } from './quotas.ts'

/** An external address that an organisation took for an edge gateway. */
export interface OwnedExternalAddress {
  readonly address: string
  /** Whether a NAT rule names it. */
  readonly used: boolean
}

export const takenAddresses = ({
  gateway,
  addresses,
}: WholeEdgeGateway): readonly OwnedExternalAddress[] =>
  addresses.map((address) => ({
    address,
    used: gateway.nat.some(({ external }) => external === address),
  }))

type Of = Pick<EdgeGatewayRow, 'id' | 'org'>

/** Takes an address of the pool of the external network: the named one, or the next that is free. */
export async function takeAddress(
  tx: Tx,
  principal: Principal,
  of: Of,
  wanted: string | undefined,
): Promise<string> {
  const { gateway, outside } = await lockEdgeGateway(tx, of)
  if (outside.kind === 'outbound') {
    throw new Fault(
      'conflict',
      `edge gateway ${gateway.name} leads to ${outside.name}, which has no addresses for organisations`,
      {
        hint: 'ask the administrators of the cloud for an edge gateway to another external network',
      },
    )
  }
  const number = wanted === undefined ? null : addressNumber(wanted)
  const { rows } = await sql<{ address: string | null; problem: string | null }>`
    select address, problem from take_external_address(${gateway.id}, ${number})`.execute(tx)
  const { address = null, problem = null } = rows[0] ?? {}
  if (address === null) throw notTaken(outside.name, wanted, problem)
  await requireQuota(tx, of.org, 'externalAddress')
  await emitAddressEvent(tx, principal, gateway, address, 'taken')
  return address
}

function notTaken(name: string, wanted: string | undefined, problem: string | null): Fault {
  if (wanted === undefined) {
    return new Fault('no-room', `external network ${name} has no free address`, {
      hint: 'release one, or ask the administrators of the cloud to widen its pool',
    })
  }
  return problem === 'outside'
    ? new Fault('invalid', `${wanted} is not in the pool of external network ${name}`, {
        hint: 'leave IpAddress out: the next free one is taken',
      })
    : new Fault('conflict', `${wanted} of external network ${name} is in use`, {
        hint: 'leave IpAddress out: the next free one is taken',
      })
}

/** Gives an address back that no rule uses. */
export async function releaseAddress(
  tx: Tx,
  principal: Principal,
  of: Of,
  address: string,
): Promise<void> {
  const whole = await lockEdgeGateway(tx, of)
  const { gateway } = whole
  const taken = takenAddresses(whole).find((each) => each.address === address)
  if (!taken || !isAddress(address)) {
    throw new Fault('not-found', `edge gateway ${gateway.name} has no such external address`, {
      hint: `it has ${whole.addresses.join(', ') || 'none'}`,
    })
  }
  const rule = gateway.nat.find(({ external }) => external === address)
  if (rule) {
    throw new Fault('conflict', `NAT rule ${rule.id} uses ${address}`, {
      hint: 'change or delete the rule first',
    })
  }
  await sql`select release_external_address(${gateway.id}, ${addressNumber(address)})`.execute(tx)
  await emitAddressEvent(tx, principal, gateway, address, 'released')
}

const emitAddressEvent = (
  tx: Tx,
  principal: Principal,
  { org, id, name, external }: EdgeGatewayRow,
  address: string,
  what: 'taken' | 'released',
): Promise<void> =>
  emitEvent(tx, {
    kind: `address.${what}`,
    org,
    details: { ...by(principal), address, edgeGateway: id, name, external },
  })
