import type { ProjectedCloud } from '../src/projection/projected-cloud.ts'

const id = (number: number): string =>
  `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`

/** One organisation with an edge gateway, a routed network and a card on it. */
export function smallCloud(
  rules: { readonly nat?: unknown; readonly firewall?: unknown; readonly routes?: unknown } = {},
): ProjectedCloud {
  const org = id(1)
  return {
    mtu: 1442,
    protected: [],
    externals: [{ id: id(2), uplink: 'world', vlan: null, gateway: '198.51.100.1', prefix: 24 }],
    groups: [{ id: id(3), key: 1, gateways: [{ id: id(4), port: 10, external: id(2) }] }],
    gateways: [
      {
        org,
        id: id(4),
        external: id(2),
        hosts: [id(20), id(21), id(22)],
        key: 2,
        address: '198.51.100.11',
        addresses: ['198.51.100.11', '198.51.100.12'],
        nat: [],
        firewall: { enabled: true, otherwise: 'drop', rules: [] },
        routes: [],
        ...rules,
      },
    ],
    networks: [
      {
        org,
        id: id(5),
        kind: 'routed',
        edgeGateway: id(4),
        external: null,
        range: { base: 10 * 2 ** 24 + 84 * 2 ** 16, prefix: 20, gateway: '10.84.0.1' },
        ipv6Prefix: null,
        dns: ['192.0.2.53', '9.9.9.9'],
        dnsSuffix: 'lab.example',
        key: 3,
        edgePort: 10,
      },
    ],
    nics: [
      {
        org,
        id: id(6),
        network: id(5),
        mode: 'POOL',
        address: '10.84.0.10',
        mac: '52:54:00:00:00:01',
        key: 10,
        connected: true,
        host: id(20),
        names: ['web'],
        groups: [],
      },
    ],
    securityGroups: [],
  }
}
