// Three hosts that carry edge gateways to one external network. Each group has a switch of its own: a host that carries one gateway of
// a switch learns everything behind that switch.
import { map, set } from '@skerry/ovsdb'

import { derivedId } from './derived-id.ts'
import { outsidePortName } from './edge-gateway-rows.ts'
import { addWire } from './network-rows.ts'
import { none, portKey, type UnitRows } from './northbound-row.ts'
import type { ProjectedEdgeGroup, ProjectedExternalNetwork } from './projected-cloud.ts'

export function addEdgeGroup(
  rows: UnitRows,
  { id, key, gateways }: ProjectedEdgeGroup,
  external: ProjectedExternalNetwork | undefined,
): void {
  if (external === undefined) return
  const ports = gateways.map((gateway) =>
    rows.add('Logical_Switch_Port', derivedId(gateway.id, 'group'), {
      name: `group-${gateway.id}`,
      type: 'router',
      addresses: 'router',
      port_security: none,
      dhcpv4_options: none,
      tag: none,
      // The host that carries the gateway announces its external addresses.
      options: map({
        'router-port': outsidePortName(gateway.id),
        'nat-addresses': 'router',
        ...portKey(gateway.port),
      }),
    }),
  )
  rows.add('Logical_Switch', id, {
    name: id,
    ports: set([addWire(rows, id, external), ...ports]),
    dns_records: none,
    load_balancer: none,
    // OVN 23.06 and newer: an ARP request from outside is not copied to every router.
    other_config: map({ ...portKey(key), 'broadcast-arps-to-all-routers': 'false' }),
  })
}
