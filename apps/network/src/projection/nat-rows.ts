// Address translation of an edge gateway.
import { Fault } from '@skerry/fault'
import { map, type OvsdbAtom } from '@skerry/ovsdb'
import {
  blockText,
  readBlock,
  whyNotNat,
  type AddressBlock,
  type EdgeSurroundings,
  type ForwardRule,
  type NatRule,
  type OneToOneRule,
  type SnatRule,
} from '@skerry/vm'

import { derivedId } from './derived-id.ts'
import type { UnitRows } from './northbound-row.ts'
import type { ProjectedEdgeGateway } from './projected-cloud.ts'

/** The rules of an edge gateway with checked addresses. */
export interface EdgeNat {
  readonly oneToOne: readonly OneToOneRule[]
  readonly forwards: readonly ForwardRule[]
  readonly snat: readonly SnatRule[]
}

/** Cells checked the rules; they are checked again, because a change may have come between. */
export function checkNat(rules: readonly NatRule[], around: EdgeSurroundings): EdgeNat {
  const wrong = whyNotNat(rules, around)
  if (wrong !== undefined) throw new Fault('invalid', wrong)
  return {
    oneToOne: rules.filter((rule) => rule.kind === 'one-to-one'),
    forwards: rules.filter((rule) => rule.kind === 'forward'),
    snat: rules
      .filter((rule) => rule.kind === 'snat')
      .map((rule) => ({ ...rule, internal: textOf(readBlock(rule.internal)) })),
  }
}

/** A whole address is written without its prefix: OVN compares the texts. */
const textOf = (block: AddressBlock): string => blockText(block).replace(/\/32$/, '')

/** Returns the references to the rows of the router. A network without a rule of its own leaves by the gateway's address. */
export function addNat(
  rows: UnitRows,
  { id, address }: ProjectedEdgeGateway,
  nat: EdgeNat,
  own: readonly { readonly id: string; readonly block: AddressBlock }[],
): readonly OvsdbAtom[] {
  const replaced = new Set(nat.snat.map(({ internal }) => internal))
  const automatic = own.filter(({ block }) => !replaced.has(blockText(block)))
  const add = (type: string, row: string, external_ip: string, logical_ip: string) =>
    rows.add('NAT', row, { type, external_ip, logical_ip })
  return [
    ...automatic.map((network) =>
      add('snat', derivedId(id, 'snat', network.id), address, blockText(network.block)),
    ),
    ...nat.snat.map((rule) =>
      add('snat', derivedId(id, 'nat', rule.id), rule.external, rule.internal),
    ),
    ...nat.oneToOne.map((rule) =>
      add('dnat_and_snat', derivedId(id, 'nat', rule.id), rule.external, rule.internal),
    ),
  ]
}

/**
 * Forwarded ports are load balancers with one target. The router has them for clients outside, each switch for the guests behind
 * the gateway, who use the external address too.
 */
export const addForwards = (
  rows: UnitRows,
  gateway: string,
  { forwards }: EdgeNat,
): readonly OvsdbAtom[] =>
  forwards.map(({ id, protocol, external, port, internal, internalPort }) => {
    const row = derivedId(gateway, 'nat', id)
    const vips = map({ [`${external}:${port}`]: `${internal}:${internalPort}` })
    return rows.add('Load_Balancer', row, { name: row, protocol, vips })
  })
