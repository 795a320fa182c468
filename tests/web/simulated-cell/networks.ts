// Networks of the simulated cell, and the cards of VMs that a request has changed.
import { eui64Address } from '@skerry/vm'

import { may, type SimulatedCaller } from './callers.ts'
import { addressOf, factsOf, KIND, statusOf, uuidOf } from './inventory.ts'
import { answer, first, row, type SimulatedRequest, type SimulatedRow } from './row.ts'
import { readBody, sendError } from './send.ts'

interface SimulatedScope {
  gateway: string
  netmask: string
  dns1?: string
  dns2?: string
  ipRanges?: { ipRange: { startAddress: string; endAddress: string }[] }
}

export interface SimulatedNetwork {
  name: string
  description: string
  fenceMode: 'isolated' | 'natRouted' | 'bridged'
  scope: SimulatedScope
  isShared: boolean
  ipv6Prefix?: string | undefined
  /** Of a bridged network: the name of its external network. */
  readonly external?: string | undefined
  readonly vdc: 'main' | 'lab'
  /** The VMs on it: the first number, and how many. */
  readonly vms: readonly [from: number, count: number]
}

const scope = (start: string, first: string, last: string, netmask: string): SimulatedScope => ({
  gateway: `${start}.1`,
  netmask,
  dns1: '9.9.9.9',
  ipRanges: { ipRange: [{ startAddress: first, endAddress: last }] },
})

const CLASS_C = '255.255.255.0'
const network = (
  name: string,
  fenceMode: SimulatedNetwork['fenceMode'],
  start: string,
  vms: SimulatedNetwork['vms'],
  others: Partial<SimulatedNetwork> = {},
): SimulatedNetwork => ({
  name,
  description: '',
  fenceMode,
  scope: scope(start, `${start}.2`, `${start}.254`, CLASS_C),
  isShared: false,
  vdc: 'main',
  vms,
  ...others,
})

/** By number; undefined: deleted. */
export const networks: (SimulatedNetwork | undefined)[] = [
  network('default', 'natRouted', '10.84.0', [0, 340], {
    scope: scope('10.84.0', '10.84.0.2', '10.84.15.254', '255.255.240.0'),
    isShared: true,
  }),
  network('web', 'natRouted', '10.20.0', [12_000, 6], {
    description: 'Web servers of the shop',
    ipv6Prefix: 'fd12:3456:789a:1::/64',
  }),
  network('backend', 'isolated', '192.168.10', [12_010, 14]),
  network('lab', 'isolated', '192.168.20', [12_030, 0], { vdc: 'lab' }),
  network('plant', 'bridged', '203.0.113', [12_040, 2], { external: 'office' }),
]

export const networkHref = (n: number): string => `/api/network/${uuidOf(KIND.network, n)}`
const adminHref = (n: number): string => `/api/admin/network/${uuidOf(KIND.network, n)}`
export const GATEWAY_HREF = `/api/admin/edgeGateway/${uuidOf(KIND.gateway, 1)}`

const linkTypes = { bridged: 0, natRouted: 1, isolated: 2 } as const

/** Whether the network exists, with its number. */
const existing = (): (readonly [number, SimulatedNetwork])[] =>
  networks.flatMap((each, n) => (each ? [[n, each] as const] : []))

const sizeOf = ({ scope: { ipRanges } }: SimulatedNetwork): number =>
  (ipRanges?.ipRange ?? [])
    .map(
      ({ startAddress, endAddress }) => numberOfAddress(endAddress) - numberOfAddress(startAddress),
    )
    .reduce((sum, each) => sum + each + 1, 0)

const numberOfAddress = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

export const networkRecords = () =>
  existing().map(([n, each]) => ({
    name: each.name,
    vdcName: each.vdc,
    ...(each.fenceMode !== 'bridged' && {
      defaultGateway: each.scope.gateway,
      netmask: each.scope.netmask,
    }),
    linkType: linkTypes[each.fenceMode],
    ...(each.fenceMode === 'natRouted' && { connectedTo: 'default' }),
    ...(each.external !== undefined && { connectedTo: each.external }),
    isBusy: false,
    isShared: each.isShared,
    ...(each.ipv6Prefix !== undefined && { ipv6Prefix: each.ipv6Prefix }),
    usedIpCount: each.vms[1],
    totalIpCount: each.fenceMode === 'bridged' ? 0 : sizeOf(each),
    href: networkHref(n),
  }))

export const networkReferences = (vdc: string) =>
  existing()
    .filter(([, each]) => each.isShared || each.vdc === vdc)
    .map(([n, each]) => ({ name: each.name, href: networkHref(n) }))

function networkDocument(n: number, caller: SimulatedCaller) {
  const found = networks[n]
  if (!found) return undefined
  const canEdit = may(caller, 'network:edit')
  return {
    name: found.name,
    href: networkHref(n),
    status: 1,
    ...(found.description !== '' && { description: found.description }),
    link: [
      {
        rel: 'down',
        type: 'application/vnd.skerry.cloud.allocatedNetworkAddress+json',
        href: `${networkHref(n)}/allocatedAddresses`,
      },
      ...(canEdit ? ['edit', 'remove'].map((rel) => ({ rel, href: adminHref(n) })) : []),
    ],
    configuration: {
      ...(found.fenceMode === 'bridged'
        ? { parentNetwork: { name: found.external } }
        : { ipScopes: { ipScope: found.scope } }),
      fenceMode: found.fenceMode,
    },
    ...(found.fenceMode === 'natRouted' && {
      edgeGateway: { name: 'default', href: GATEWAY_HREF },
    }),
    isShared: found.isShared,
    ...(found.ipv6Prefix !== undefined && {
      isIpv6Enabled: true,
      ipv6Prefix: found.ipv6Prefix,
    }),
  }
}

/** The address of the VM that has this place on a network. */
const addressAt = ({ scope: { gateway } }: SimulatedNetwork, place: number): string =>
  `${gateway.split('.').slice(0, 2).join('.')}.${Number(gateway.split('.')[2]) + Math.floor(place / 250)}.${(place % 250) + 2}`

function allocatedDocument(n: number) {
  const found = networks[n]
  if (!found) return undefined
  const [from, count] = found.fenceMode === 'bridged' ? [0, 0] : found.vms
  return {
    href: `${networkHref(n)}/allocatedAddresses`,
    ipAddress: Array.from({ length: count }, (_, place) => ({
      allocationType: 'vmAllocated',
      isDeployed: statusOf(from + place) === 'POWERED_ON',
      link: [
        {
          rel: 'down',
          href: `/api/vApp/vm-${uuidOf(KIND.vm, from + place)}`,
          name: factsOf(from + place).name,
        },
      ],
      ipAddress: addressAt(found, place),
    })),
  }
}

interface NetworkBody {
  readonly name?: string
  readonly description?: string
  readonly configuration?: {
    readonly ipScopes?: { readonly ipScope: SimulatedScope }
    readonly fenceMode?: SimulatedNetwork['fenceMode']
    readonly parentNetwork?: { readonly name: string }
  }
  readonly isShared?: boolean
  readonly isIpv6Enabled?: boolean
}

let prefixes = 1
/** A prefix that no network had. */
const takePrefix = (): string => `fd12:3456:789a:${(++prefixes).toString(16)}::/64`

const hasIpv6 = ({ ipv6Prefix }: SimulatedNetwork): boolean => ipv6Prefix !== undefined

async function addNetwork(request: SimulatedRequest): Promise<void> {
  const {
    name = '',
    description = '',
    configuration,
    isShared = false,
    isIpv6Enabled = false,
  } = (await readBody(request.request)) as NetworkBody
  if (existing().some(([, each]) => each.name === name))
    return sendError(request.response, 409, 'CONFLICT', `network ${name} already exists`)
  const given = configuration?.ipScopes?.ipScope ?? scope('10.0.0', '', '', CLASS_C)
  const start = given.gateway.replace(/\.\d+$/, '')
  const n =
    networks.push(
      network(name, configuration?.fenceMode ?? 'isolated', start, [12_400, 0], {
        description,
        isShared,
        ...(isIpv6Enabled && { ipv6Prefix: takePrefix() }),
        external: configuration?.parentNetwork?.name,
        scope: { ...scope(start, `${start}.2`, `${start}.254`, CLASS_C), ...given },
      }),
    ) - 1
  answer(request, networkDocument(n, request.caller), 201)
}

async function changeNetwork(request: SimulatedRequest): Promise<void> {
  const body = (await readBody(request.request)) as NetworkBody
  const found = networks[first(request)]
  if (!found) return answer(request, undefined)
  const { name = found.name, description = found.description, isShared = found.isShared } = body
  const { isIpv6Enabled = hasIpv6(found) } = body
  const isSwitched = isIpv6Enabled !== hasIpv6(found)
  if (isSwitched && found.fenceMode !== 'natRouted') {
    const because = `network ${name} cannot have IPv6: only natRouted networks can`
    return sendError(request.response, 400, 'BAD_REQUEST', because)
  }
  if (isSwitched && found.vms[1] > 0) {
    const because = `VM ${factsOf(found.vms[0]).name} is on network ${name}; IPv6 can be switched on or off when it has no VMs`
    return sendError(request.response, 409, 'CONFLICT', because)
  }
  if (isSwitched) found.ipv6Prefix = isIpv6Enabled ? takePrefix() : undefined
  const given = body.configuration?.ipScopes?.ipScope
  Object.assign(found, { name, description, isShared, scope: { ...found.scope, ...given } })
  answer(request, {}, 202)
}

function deleteNetwork(request: SimulatedRequest): void {
  const n = first(request)
  const found = networks[n]
  if (!found) return answer(request, undefined)
  const [from, count] = found.vms
  if (count > 0) {
    const because = `VM ${factsOf(from).name} is on network ${found.name}; delete the VM, or connect it to another network`
    return sendError(request.response, 409, 'CONFLICT', because)
  }
  networks[n] = undefined
  answer(request, {}, 202)
}

interface SimulatedCard {
  readonly network: string
  readonly networkConnectionIndex: number
  readonly ipAddress?: string
  readonly isConnected: boolean
  readonly macAddress?: string
  readonly ipAddressAllocationMode: string
}

const changedCards = new Map<number, readonly SimulatedCard[]>()

const macOf = (n: number, index: number): string =>
  `52:54:0${index}:${[16, 8, 0].map((shift) => ((n >> shift) & 255).toString(16).padStart(2, '0')).join(':')}`

/** The network of a VM that no request has changed. */
function cardOf(n: number): SimulatedCard {
  const found = existing()
    .map(([, each]) => each)
    .find(({ vms: [from, count] }) => n >= from && n < from + count)
  return {
    network: found?.name ?? 'default',
    networkConnectionIndex: 0,
    ...(found?.fenceMode !== 'bridged' && {
      ipAddress:
        found && found.name !== 'default'
          ? addressAt(found, n - found.vms[0])
          : addressOf(factsOf(n)),
    }),
    isConnected: true,
    macAddress: macOf(n, 0),
    ipAddressAllocationMode: found?.fenceMode === 'bridged' ? 'DHCP' : 'POOL',
  }
}

/** A guest makes its address of the prefix of its network and of its MAC address. */
function withIpv6(card: SimulatedCard) {
  const prefix = existing().find(([, { name }]) => name === card.network)?.[1].ipv6Prefix
  const { macAddress } = card
  if (prefix === undefined || macAddress === undefined) return card
  return { ...card, ipv6Address: eui64Address(prefix, macAddress) }
}

export const connectionsDocument = (n: number, caller: SimulatedCaller) => ({
  link: may(caller, 'vm:edit')
    ? [{ rel: 'edit', href: `/api/vApp/vm-${uuidOf(KIND.vm, n)}/networkConnectionSection` }]
    : [],
  networkConnection: (changedCards.get(n) ?? [cardOf(n)]).map(withIpv6),
})

/** Networks and addresses change while the VM is off. */
async function changeConnections(request: SimulatedRequest): Promise<void> {
  const n = first(request)
  const body = await readBody(request.request)
  const wanted = (body['networkConnection'] ?? []) as readonly SimulatedCard[]
  const before = connectionsDocument(n, request.caller).networkConnection
  const direct = existing().flatMap(([, each]) => (each.fenceMode === 'bridged' ? [each.name] : []))
  const wrong = wanted.find(
    ({ network: name, ipAddressAllocationMode: mode }) =>
      direct.includes(name) && mode !== 'DHCP' && mode !== 'NONE',
  )
  if (wrong) {
    const because = `network ${wrong.network} has no addresses of the cloud; IpAddressAllocationMode must be DHCP or NONE on it`
    return sendError(request.response, 400, 'BAD_REQUEST', because)
  }
  const isSame =
    wanted.length === before.length &&
    wanted.every((card, at) => card.network === before[at]?.network)
  if (!isSame && statusOf(n) !== 'POWERED_OFF') {
    const because = `VM ${factsOf(n).name} is ${statusOf(n)}; its networks change while it is off`
    return sendError(request.response, 409, 'CONFLICT', because)
  }
  changedCards.set(
    n,
    wanted.map((card) => {
      const old = before.find((each) => each.networkConnectionIndex === card.networkConnectionIndex)
      const address = old?.network === card.network ? old.ipAddress : `192.168.10.${200 + (n % 50)}`
      return {
        ipAddress: address ?? '192.168.10.200',
        macAddress: macOf(n, card.networkConnectionIndex),
        ...card,
      }
    }),
  )
  answer(request, {}, 202)
}

export const networkRows: readonly SimulatedRow[] = [
  row('GET', '(?:admin/)?network/UUID', (request) =>
    answer(request, networkDocument(first(request), request.caller)),
  ),
  row('GET', 'network/UUID/allocatedAddresses', (request) =>
    answer(request, allocatedDocument(first(request))),
  ),
  row('POST', 'admin/vdc/UUID/networks', addNetwork),
  row('PUT', 'admin/network/UUID', changeNetwork),
  row('DELETE', 'admin/network/UUID', deleteNetwork),
  row('PUT', 'vApp/vm-UUID/networkConnectionSection', changeConnections),
]
