// Address translation of an edge gateway.
import { Fault } from '@skerry/fault'
import { map, type OvsdbAtom } from '@skerry/ovsdb'
import { blockText, isWithin, type AddressBlock } from '@skerry/vm'

import { checkedAddress, readBlock } from './addresses.ts'
import { derivedId } from './derived-id.ts'
import type { UnitRows } from './northbound-row.ts'
import type { ProjectedEdgeGateway } from './projected-cloud.ts'
import type { ForwardRule, NatRule } from './read-rules.ts'

/** The rules of an edge gateway with checked addresses. */
export interface EdgeNat {
  readonly oneToOne: readonly {
    readonly id: string
    readonly external: string
    readonly internal: string
  }[]
  readonly forwards: readonly ForwardRule[]
  readonly snat: readonly {
    readonly id: string
    readonly external: string
    readonly internal: string
  }[]
}

/** `own`: the networks behind the edge gateway. */
export function checkNat(
  rules: readonly NatRule[],
  gateway: ProjectedEdgeGateway,
  own: readonly AddressBlock[],
): EdgeNat {
  const oneToOne: { id: string; external: string; internal: string }[] = []
  const forwards: ForwardRule[] = []
  const snat: { id: string; external: string; internal: string }[] = []
  const taken = new Set<string>()
  for (const rule of rules) {
    const { id, external } = rule
    checkExternal(rule, gateway)
    if (rule.kind === 'snat') {
      const internal = textOf(readBlock(rule.internal, `NAT rule ${id}`))
      once(taken, `addresses ${internal}`, id)
      snat.push({ id, external, internal })
      continue
    }
    const internal = checkedAddress(rule.internal, `NAT rule ${id}`)
    if (!own.some((block) => isWithin(internal, block))) {
      throw new Fault('invalid', `NAT rule ${id}: ${internal} is in no network of the edge gateway`)
    }
    if (rule.kind === 'forward') {
      once(taken, `${rule.protocol} port ${rule.port} of ${external}`, id)
      forwards.push({ ...rule, internal })
    } else {
      once(taken, `address ${external}`, id)
      once(taken, `address ${internal}`, id)
      oneToOne.push({ id, external, internal })
    }
  }
  return { oneToOne, forwards, snat }
}

/** A whole address is written without its prefix: OVN compares the texts. */
const textOf = (block: AddressBlock): string => blockText(block).replace(/\/32$/, '')

function once(taken: Set<string>, what: string, id: string): void {
  if (taken.has(what)) throw new Fault('invalid', `NAT rule ${id}: another rule translates ${what}`)
  taken.add(what)
}

/** An organisation uses only the external addresses that it was given. */
function checkExternal(
  { id, kind, external }: NatRule,
  { address, addresses }: ProjectedEdgeGateway,
): void {
  checkedAddress(external, `NAT rule ${id}`)
  // All networks leave by the gateway's own address, so no single guest can have it.
  const allowed = kind === 'one-to-one' ? addresses.filter((each) => each !== address) : addresses
  if (allowed.includes(external) || (kind !== 'one-to-one' && external === address)) return
  throw new Fault(
    'invalid',
    `NAT rule ${id}: ${external} is not an external address for it; available: ${allowed.join(', ')}`,
  )
}

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
