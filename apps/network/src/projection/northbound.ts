// What OVN's northbound database holds for a cloud: a pure function of the rows of PostgreSQL.
import { Fault } from '@skerry/fault'

import { addEdgeGateway } from './edge-gateway-rows.ts'
import { addEdgeGroup } from './edge-group-rows.ts'
import { addNetwork } from './network-rows.ts'
import { UnitRows, type NorthboundRow } from './northbound-row.ts'
import type {
  ProjectedCloud,
  ProjectedEdgeGroup,
  ProjectedExternalNetwork,
} from './projected-cloud.ts'
import { addSecurity } from './security-rows.ts'
import { gatewayUnit, groupUnit, networkUnit } from './unit.ts'

/** The rows of a unit; or why it cannot be projected. The other units are not affected. */
export type UnitProjection =
  | { readonly unit: string; readonly rows: readonly NorthboundRow[] }
  | { readonly unit: string; readonly fault: Fault }

export function northboundOf(cloud: ProjectedCloud): readonly UnitProjection[] {
  const { mtu, gateways, networks, groups, securityGroups } = cloud
  const nics = Map.groupBy(cloud.nics, ({ network }) => network)
  const nicsOf = (network: string) => nics.get(network) ?? []
  const behind = Map.groupBy(networks, ({ edgeGateway }) => edgeGateway)
  const externals = new Map(cloud.externals.map((each) => [each.id, each]))
  return [
    ...groups.map((group) =>
      project(groupUnit(group.id), (rows) =>
        addEdgeGroup(rows, group, externalOf(group, externals)),
      ),
    ),
    ...gateways.map((gateway) =>
      project(gatewayUnit(gateway.id), (rows) =>
        addEdgeGateway(rows, {
          mtu,
          protected: cloud.protected,
          gateway,
          external: found(externals, gateway.external),
          networks: behind.get(gateway.id) ?? [],
          nicsOf,
          securityGroups,
        }),
      ),
    ),
    ...(behind.get(null) ?? []).map((network) => {
      const external = network.external === null ? undefined : network.external
      const own = nicsOf(network.id)
      return project(networkUnit(network), (rows) => {
        addNetwork(rows, {
          mtu,
          network,
          nics: own,
          external: external === undefined ? undefined : found(externals, external),
        })
        const owner = network.id
        addSecurity(rows, { owner, networks: [network], nics: own, groups: securityGroups })
      })
    }),
  ]
}

function project(unit: string, add: (rows: UnitRows) => void): UnitProjection {
  const rows = new UnitRows(unit)
  try {
    add(rows)
    return { unit, rows: rows.list() }
  } catch (cause) {
    if (cause instanceof Fault) return { unit, fault: cause }
    // Otherwise an error in one unit would stop the changes of all organisations.
    return { unit, fault: new Fault('invalid', `an unexpected error: ${String(cause)}`, { cause }) }
  }
}

function found(
  externals: ReadonlyMap<string, ProjectedExternalNetwork>,
  id: string,
): ProjectedExternalNetwork {
  const external = externals.get(id)
  if (external) return external
  throw new Fault('invalid', `there is no external network ${id} in this zone`)
}

/** A switch leads to one external network: another one on it would be connected to it. */
function externalOf(
  { id, gateways }: ProjectedEdgeGroup,
  externals: ReadonlyMap<string, ProjectedExternalNetwork>,
): ProjectedExternalNetwork | undefined {
  const [first, ...others] = new Set(gateways.map(({ external }) => external))
  if (others.length > 0) {
    throw new Fault('invalid', `edge group ${id} has gateways of several external networks`)
  }
  return first === undefined ? undefined : found(externals, first)
}
