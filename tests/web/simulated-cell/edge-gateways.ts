// The edge gateway and the external networks of the simulated cell.
import { may, type SimulatedCaller } from './callers.ts'
import { KIND, uuidOf } from './inventory.ts'
import { GATEWAY_HREF, networkHref, networks } from './networks.ts'
import { answer, first, noContent, row, type SimulatedRequest, type SimulatedRow } from './row.ts'
import { readBody, sendError } from './send.ts'

interface NatRule {
  id?: string
  readonly description?: string
  readonly ruleType: string
  readonly isEnabled: boolean
  readonly gatewayNatRule: { readonly originalIp: string; readonly translatedIp: string }
}

interface FirewallRule {
  id?: string
  readonly destinationIp?: string
}

const OWN = '203.0.113.10'
const HOSTS = '203.0.113'

const forward = (id: string, port: number, to: string, description: string) => ({
  id,
  description,
  ruleType: 'DNAT',
  isEnabled: true,
  gatewayNatRule: {
    originalIp: OWN,
    originalPort: String(port),
    translatedIp: to,
    translatedPort: '8443',
    protocol: 'tcp',
  },
})

const allow = (id: string, destinationIp: string, destinationPortRange: string) => ({
  id,
  isEnabled: true,
  description: '',
  policy: 'allow',
  protocols: { tcp: true },
  destinationIp,
  destinationPortRange,
  sourceIp: 'Any',
  sourcePortRange: 'Any',
  direction: 'in',
})

const gateway = {
  version: 3,
  addresses: [`${HOSTS}.21`, `${HOSTS}.22`],
  nat: [
    forward('65537', 443, '10.20.0.2', 'shop'),
    {
      id: '65538',
      ruleType: 'DNAT',
      isEnabled: true,
      gatewayNatRule: {
        originalIp: `${HOSTS}.21`,
        originalPort: 'any',
        translatedIp: '10.20.0.3',
        translatedPort: 'any',
        protocol: 'any',
      },
    },
  ] as NatRule[],
  firewall: [
    allow('65539', OWN, '443'),
    allow('65540', `${HOSTS}.21`, '80-443'),
    {
      id: '65541',
      isEnabled: true,
      description: 'No mail from here',
      policy: 'drop',
      protocols: { tcp: true },
      destinationIp: 'external',
      destinationPortRange: '25',
      sourceIp: '10.84.0.0/20',
      sourcePortRange: 'Any',
      direction: 'out',
    },
  ] as FirewallRule[],
  defaultAction: 'drop',
  routes: [{ name: 'office', network: '192.168.0.0/16', nextHopIp: `${HOSTS}.9` }] as unknown[],
}

/** As another administrator does while the page of the first one is open. */
export const changeBehindThePage = (): void => {
  gateway.version++
  gateway.firewall = [allow('65550', OWN, '22'), ...gateway.firewall]
}

const usedAddresses = (): string[] => [
  ...gateway.nat.flatMap(({ gatewayNatRule: { originalIp, translatedIp } }) => [
    originalIp,
    translatedIp,
  ]),
  ...gateway.firewall.map(({ destinationIp }) => destinationIp ?? ''),
]

const inner = () =>
  networks.flatMap((each, n) =>
    each?.fenceMode === 'natRouted'
      ? [
          {
            name: each.name,
            network: { name: each.name, href: networkHref(n) },
            interfaceType: 'internal',
            subnetParticipation: {
              gateway: each.scope.gateway,
              netmask: each.scope.netmask,
              ipAddress: each.scope.gateway,
            },
          },
        ]
      : [],
  )

const gatewayDocument = (caller: SimulatedCaller) => ({
  name: 'default',
  href: GATEWAY_HREF,
  status: 1,
  version: gateway.version,
  link: [
    {
      rel: 'down',
      type: 'application/vnd.skerry.cloud.admin.externalAddresses+json',
      href: `${GATEWAY_HREF}/externalAddresses`,
    },
    ...(may(caller, 'network:edit')
      ? [
          {
            rel: 'edgeGateway:configureServices',
            href: `${GATEWAY_HREF}/action/configureServices`,
          },
        ]
      : []),
  ],
  configuration: {
    gatewayInterfaces: {
      gatewayInterface: [
        {
          name: 'office',
          network: { name: 'office' },
          interfaceType: 'uplink',
          subnetParticipation: {
            gateway: `${HOSTS}.1`,
            netmask: '255.255.255.0',
            ipAddress: OWN,
            ipRanges: {
              ipRange: gateway.addresses.map((address) => ({
                startAddress: address,
                endAddress: address,
              })),
            },
          },
        },
        ...inner(),
      ],
    },
    edgeGatewayServiceConfiguration: {
      firewallService: {
        isEnabled: true,
        defaultAction: gateway.defaultAction,
        firewallRule: gateway.firewall,
      },
      natService: { isEnabled: true, natRule: gateway.nat },
      staticRoutingService: { isEnabled: true, staticRoute: gateway.routes },
    },
    haEnabled: true,
  },
})

export const gatewayRecords = () => [
  {
    name: 'default',
    vdcName: 'main',
    externalNetworkName: 'office',
    ipAddress: OWN,
    numberOfOrgNetworks: inner().length,
    numberOfExternalAddresses: gateway.addresses.length,
    isBusy: false,
    href: GATEWAY_HREF,
  },
]

interface ServicesBody {
  readonly version?: number
  readonly firewallService?: { defaultAction?: string; firewallRule?: FirewallRule[] }
  readonly natService?: { natRule?: NatRule[] }
  readonly staticRoutingService?: { staticRoute?: unknown[] }
}

let lastRule = 65_600

/** A rule keeps its number; a new one gets the next. */
const numbered = <T extends { id?: string }>(rules: readonly T[]): T[] =>
  rules.map((rule) => ({ ...rule, id: rule.id ?? String(++lastRule) }))

async function configure(request: SimulatedRequest): Promise<void> {
  const body = (await readBody(request.request)) as ServicesBody
  if (body.version !== undefined && body.version < gateway.version) {
    const because = `edge gateway default has version ${gateway.version}, not ${body.version}; read it again`
    return sendError(request.response, 409, 'CONFLICT', because)
  }
  const { firewallService, natService, staticRoutingService } = body
  if (firewallService?.firewallRule) gateway.firewall = numbered(firewallService.firewallRule)
  if (firewallService?.defaultAction) gateway.defaultAction = firewallService.defaultAction
  if (natService?.natRule) gateway.nat = numbered(natService.natRule)
  if (staticRoutingService?.staticRoute) gateway.routes = staticRoutingService.staticRoute
  gateway.version++
  answer(request, {}, 202)
}

const addressDocument = (ipAddress: string, caller: SimulatedCaller) => {
  const isInUse = usedAddresses().includes(ipAddress)
  const href = `${GATEWAY_HREF}/externalAddresses/${ipAddress}`
  return {
    ipAddress,
    isInUse,
    link: !isInUse && may(caller, 'network:edit') ? [{ rel: 'remove', href }] : [],
  }
}

const addressesDocument = (caller: SimulatedCaller) => ({
  href: `${GATEWAY_HREF}/externalAddresses`,
  link: may(caller, 'network:edit')
    ? [{ rel: 'add', href: `${GATEWAY_HREF}/externalAddresses` }]
    : [],
  externalAddress: gateway.addresses.map((address) => addressDocument(address, caller)),
})

interface SimulatedExternal {
  name: string
  readonly kind: 'outbound' | 'provider'
  uplink: string
  vlan?: number
  isDefault: boolean
  scope: {
    readonly gateway: string
    readonly netmask: string
    readonly dns1?: string
    readonly ipRanges?: {
      readonly ipRange: readonly { readonly startAddress: string; readonly endAddress: string }[]
    }
  }
  readonly used: number
}

const externals: (SimulatedExternal | undefined)[] = [
  {
    name: 'outbound',
    kind: 'outbound',
    uplink: 'out',
    isDefault: false,
    scope: { gateway: '100.64.0.1', netmask: '255.192.0.0' },
    used: 12,
  },
  {
    name: 'office',
    kind: 'provider',
    uplink: 'lan',
    vlan: 30,
    isDefault: true,
    scope: {
      gateway: `${HOSTS}.1`,
      netmask: '255.255.255.0',
      dns1: '9.9.9.9',
      ipRanges: { ipRange: [{ startAddress: `${HOSTS}.10`, endAddress: `${HOSTS}.99` }] },
    },
    used: 31,
  },
]
const externalHref = (n: number): string =>
  `/api/admin/extension/externalnet/${uuidOf(KIND.externalNetwork, n)}`

export const externalRecords = () =>
  externals.flatMap((each, n) =>
    each
      ? [
          {
            name: each.name,
            kind: each.kind,
            uplink: each.uplink,
            ...(each.vlan !== undefined && { vlan: each.vlan }),
            gateway: each.scope.gateway,
            netmask: each.scope.netmask,
            isDefault: each.isDefault,
            numberOfEdgeGateways: each.used === 0 ? 0 : 9,
            usedIpCount: each.used,
            totalIpCount: 90,
            href: externalHref(n),
          },
        ]
      : [],
  )

const externalDocument = (n: number) => {
  const found = externals[n]
  if (!found) return undefined
  return {
    name: found.name,
    href: externalHref(n),
    link:
      found.kind === 'provider'
        ? ['edit', 'remove'].map((rel) => ({ rel, href: externalHref(n) }))
        : [],
    configuration: { ipScopes: { ipScope: found.scope }, fenceMode: 'isolated' },
    uplink: found.uplink,
    ...(found.vlan !== undefined && { vlan: found.vlan }),
    isDefault: found.isDefault,
  }
}

interface ExternalBody {
  readonly name?: string
  readonly uplink?: string
  readonly vlan?: number
  readonly isDefault?: boolean
  readonly configuration?: { readonly ipScopes?: { readonly ipScope: SimulatedExternal['scope'] } }
}

function changeExternal(found: SimulatedExternal, body: ExternalBody): void {
  const { name = found.name, uplink = found.uplink, isDefault = found.isDefault } = body
  if (isDefault) for (const each of externals) if (each) each.isDefault = false
  const scope = { ...found.scope, ...body.configuration?.ipScopes?.ipScope }
  Object.assign(found, { name, uplink, isDefault, scope, vlan: body.vlan ?? found.vlan })
}

const externalRows: readonly SimulatedRow[] = [
  row('POST', 'admin/extension/externalNetworks', async (request) => {
    const made: SimulatedExternal = {
      name: '',
      kind: 'provider',
      uplink: '',
      isDefault: false,
      scope: { gateway: '', netmask: '' },
      used: 0,
    }
    changeExternal(made, await readBody(request.request))
    answer(request, externalDocument(externals.push(made) - 1), 201)
  }),
  row('GET', 'admin/extension/externalnet/UUID', (request) =>
    answer(request, externalDocument(first(request))),
  ),
  row('PUT', 'admin/extension/externalnet/UUID', async (request) => {
    const found = externals[first(request)]
    if (found) changeExternal(found, await readBody(request.request))
    answer(request, externalDocument(first(request)))
  }),
  row('DELETE', 'admin/extension/externalnet/UUID', (request) => {
    const n = first(request)
    if ((externals[n]?.used ?? 0) > 0) {
      const because = `external network ${externals[n]?.name} is used by 9 edge gateways`
      return sendError(request.response, 409, 'CONFLICT', because)
    }
    externals[n] = undefined
    noContent(request)
  }),
]

export const edgeRows: readonly SimulatedRow[] = [
  row('GET', 'admin/edgeGateway/UUID', (request) =>
    answer(request, first(request) === 1 ? gatewayDocument(request.caller) : undefined),
  ),
  row('POST', 'admin/edgeGateway/UUID/action/configureServices', configure),
  row('GET', 'admin/edgeGateway/UUID/externalAddresses', (request) =>
    answer(request, addressesDocument(request.caller)),
  ),
  row('POST', 'admin/edgeGateway/UUID/externalAddresses', (request) => {
    const taken = new Set(gateway.addresses)
    const free =
      Array.from({ length: 60 }, (_, at) => `${HOSTS}.${at + 21}`).find(
        (each) => !taken.has(each),
      ) ?? ''
    gateway.addresses = [...gateway.addresses, free].toSorted()
    answer(request, addressDocument(free, request.caller), 201)
  }),
  row('DELETE', 'admin/edgeGateway/UUID/externalAddresses/([\\d.]+)', (request) => {
    gateway.addresses = gateway.addresses.filter((each) => each !== request.groups[1])
    noContent(request)
  }),
  ...externalRows,
]
