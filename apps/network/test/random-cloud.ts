import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
// Random clouds with everything that can be projected. Organisations use the same ranges, as they do in reality.
import type {
  ProjectedCloud,
  ProjectedEdgeGateway,
  ProjectedNetwork,
  ProjectedNic,
  ProjectedSecurityGroup,
  SecurityRule,
} from '../src/projection/projected-cloud.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Hands out what is unique in a zone. */
class Issued {
  readonly random: SeededRandom
  readonly #keys = { datapath: 0, external: 10 }

  constructor(random: SeededRandom) {
    this.random = random
  }

  id(): string {
    const hex = this.random.bytes(16).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  key(): number {
    return ++this.#keys.datapath
  }

  external(): string {
    const number = ++this.#keys.external
    return `198.51.${100 + Math.floor(number / 250)}.${number % 250}`
  }

  mac(): string {
    const bytes = this.random.bytes(3).toString('hex')
    return `52:54:00:${bytes.slice(0, 2)}:${bytes.slice(2, 4)}:${bytes.slice(4)}`
  }

  prefix(): string {
    const hex = this.random.bytes(7).toString('hex')
    const groups = [`fd${hex.slice(0, 2)}`, hex.slice(2, 6), hex.slice(6, 10), hex.slice(10)]
    return `${groups.join(':')}::/64`
  }

  list<T>(most: number, make: (at: number) => T): T[] {
    return Array.from({ length: this.random.below(most + 1) }, (_, at) => make(at))
  }
}

const BASE = 10 * 2 ** 24 + 84 * 2 ** 16
const text = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

export function randomCloud(random: SeededRandom): ProjectedCloud {
  const issued = new Issued(random)
  const hosts = Array.from({ length: 3 + random.below(3) }, () => issued.id())
  const outbound = {
    id: issued.id(),
    uplink: 'out',
    vlan: null,
    gateway: '100.64.0.1',
    prefix: 16,
  }
  const provider = {
    id: issued.id(),
    uplink: 'world',
    vlan: random.pick([null, 7, 4094]),
    gateway: '198.51.100.1',
    prefix: 16,
  }
  const groups = [outbound, provider].map(({ id }) => ({
    id: issued.id(),
    key: issued.key(),
    external: id,
    gateways: [] as { id: string; port: number; external: string }[],
  }))
  const cloud = {
    mtu: random.pick([1442, 1280, 8942]),
    protected: random.pick<readonly string[]>([[], ['192.0.2.0/24', '10.0.0.0/8']]),
    externals: [outbound, provider],
    groups,
    gateways: [] as ProjectedEdgeGateway[],
    networks: [] as ProjectedNetwork[],
    nics: [] as ProjectedNic[],
    securityGroups: [] as ProjectedSecurityGroup[],
  }
  const orgs = Array.from({ length: 1 + random.below(3) }, () => issued.id())
  for (const org of orgs) {
    addSecurityGroups(cloud, issued, org)
    for (const gateway of issued.list(2, () => addGateway(cloud, issued, org, hosts))) {
      cloud.gateways.push(withRules(cloud, issued, gateway))
    }
    for (const kind of issued.list(2, () => random.pick(['isolated', 'direct'] as const))) {
      addNetwork(cloud, issued, { org, kind, hosts, external: provider.id, at: random.below(3) })
    }
  }
  return cloud
}

type Growing = {
  readonly groups: readonly {
    readonly id: string
    readonly external: string
    readonly gateways: { id: string; port: number; external: string }[]
  }[]
  readonly networks: ProjectedNetwork[]
  readonly nics: ProjectedNic[]
  readonly securityGroups: ProjectedSecurityGroup[]
}

function addGateway(
  cloud: Growing,
  issued: Issued,
  org: string,
  hosts: readonly string[],
): ProjectedEdgeGateway {
  const { random } = issued
  const group = cloud.groups[random.below(cloud.groups.length)] ?? cloud.groups[0]
  if (!group) throw new Error('a cloud has groups')
  const id = issued.id()
  const { external } = group
  group.gateways.push({ id, port: 10 + group.gateways.length, external })
  const address = issued.external()
  const addresses = [address, ...issued.list(3, () => issued.external())]
  issued.list(3, (at) =>
    addNetwork(cloud, issued, { org, kind: 'routed', hosts, edgeGateway: id, at }),
  )
  return {
    org,
    id,
    external,
    hosts: hosts.slice(0, random.below(4)),
    key: issued.key(),
    address,
    addresses,
    nat: [],
    firewall: { enabled: true, otherwise: 'drop', rules: [] },
    routes: [],
  }
}

interface NetworkPlan {
  readonly org: string
  readonly kind: ProjectedNetwork['kind']
  readonly hosts: readonly string[]
  readonly edgeGateway?: string
  readonly external?: string
  /** Which of the ranges of its gateway. */
  readonly at: number
}

function addNetwork(cloud: Growing, issued: Issued, plan: NetworkPlan): void {
  const { org, kind, hosts, edgeGateway = null, external = null, at } = plan
  const { random } = issued
  const id = issued.id()
  const base = BASE + at * 2 ** 12
  const isDirect = kind === 'direct'
  cloud.networks.push({
    org,
    id,
    kind,
    edgeGateway,
    external: isDirect ? external : null,
    range: isDirect ? null : { base, prefix: 20 + random.below(8), gateway: text(base + 1) },
    ipv6Prefix: kind === 'routed' && random.below(2) === 0 ? issued.prefix() : null,
    dns: random.pick<readonly string[]>([[], ['192.0.2.53'], ['192.0.2.53', '9.9.9.9']]),
    dnsSuffix: random.pick([null, 'example.org', 'Lab.Example']),
    key: issued.key(),
    edgePort: kind === 'routed' ? 10 + at : null,
  })
  issued.list(5, (place) => {
    const mode = isDirect ? 'NONE' : random.pick(['POOL', 'MANUAL', 'DHCP', 'NONE'] as const)
    cloud.nics.push({
      org,
      id: issued.id(),
      network: id,
      mode,
      address: mode === 'NONE' ? null : text(base + 2 + place),
      mac: issued.mac(),
      key: 10 + place,
      connected: random.below(5) > 0,
      host: random.below(5) > 0 ? (hosts[random.below(hosts.length)] ?? null) : null,
      // Names are what tenants type.
      names: [random.pick(['web', 'DB-1', '"; drop', 'ns1', 'a b', '']), 'vm'],
      groups: cloud.securityGroups
        .filter((group) => group.org === org && random.below(3) === 0)
        .map((group) => group.id),
    })
  })
}

/** They may name each other, and themselves, as peers. */
function addSecurityGroups(cloud: Growing, issued: Issued, org: string): void {
  const { random } = issued
  const ids = issued.list(4, () => issued.id())
  const rule = (): SecurityRule => {
    const protocol = random.pick(['tcp', 'udp', 'icmp', 'any'] as const)
    const low = random.pick([1, 22, 80, 443, 1000])
    const hasPorts = (protocol === 'tcp' || protocol === 'udp') && random.below(4) > 0
    const kind = random.pick(['any', 'block', 'block', 'peer'] as const)
    return {
      protocol,
      ports: hasPorts ? { low, high: random.pick([low, low + 100, 65_535]) } : null,
      block:
        kind === 'block'
          ? random.pick([
              '0.0.0.0/0',
              '10.84.0.0/20',
              '10.84.0.2/31',
              '203.0.113.0/25',
              '128.0.0.0/1',
            ])
          : null,
      peer: kind === 'peer' ? (ids[random.below(ids.length)] ?? null) : null,
    }
  }
  for (const id of ids) {
    const side = () => (random.below(3) === 0 ? null : issued.list(4, rule))
    cloud.securityGroups.push({ org, id, in: side(), out: side() })
  }
}

/** Rules that a cell would accept. */
function withRules(
  cloud: Growing,
  issued: Issued,
  gateway: ProjectedEdgeGateway,
): ProjectedEdgeGateway {
  const behind = cloud.networks.filter(({ edgeGateway }) => edgeGateway === gateway.id)
  const guests = behind.map(({ range }) => text((range?.base ?? 0) + 2))
  const [first] = guests
  const route = (nexthop: string) => (at: number) => ({
    id: issued.id(),
    network: `172.${16 + at}.0.0/16`,
    nexthop,
  })
  return {
    ...gateway,
    nat: natRules(issued, gateway, behind, guests),
    firewall: firewall(issued, [gateway.address, first ?? 'any']),
    routes: first === undefined ? [] : issued.list(2, route(first)),
  }
}

function natRules(
  issued: Issued,
  { address, addresses }: ProjectedEdgeGateway,
  behind: readonly ProjectedNetwork[],
  guests: readonly string[],
): readonly object[] {
  const { random } = issued
  const [first] = guests
  const wholes = guests.slice(0, addresses.length - 1).map((internal, at) => ({
    id: issued.id(),
    kind: 'one-to-one',
    external: addresses[at + 1],
    internal,
  }))
  const forward = (at: number) => ({
    id: issued.id(),
    kind: 'forward',
    protocol: random.pick(['tcp', 'udp']),
    external: address,
    port: 1000 + at,
    internal: first,
    internalPort: 1 + random.below(65_535),
  })
  const snat = behind.slice(0, random.below(2)).map(({ range }) => ({
    id: issued.id(),
    kind: 'snat',
    external: address,
    internal: `${text(range?.base ?? 0)}/${range?.prefix}`,
  }))
  return [...wholes, ...(first === undefined ? [] : issued.list(3, forward)), ...snat]
}

function firewall(issued: Issued, known: readonly [string, string]): object {
  const { random } = issued
  const words = ['any', 'internal', 'external'] as const
  const others = ['203.0.113.7', '203.0.113.3-203.0.113.90', '203.0.113.0/25'] as const
  const end = () => random.pick<string>([...words, ...others, ...known])
  const ports = (low: number) =>
    random.pick<object>([
      {},
      { destinationPorts: { low, high: low } },
      { destinationPorts: { low: 1, high: low } },
      { sourcePorts: { low, high: 65_535 } },
    ])
  const protocols = [['any'], ['tcp'], ['udp', 'tcp'], ['icmp'], ['icmp', 'tcp']] as const
  const rules = issued.list(6, () => ({
    id: issued.id(),
    policy: random.pick(['allow', 'drop']),
    direction: random.pick(['in', 'out']),
    protocols: random.pick<readonly string[]>([...protocols]),
    source: end(),
    destination: end(),
    ...ports(1 + random.below(65_535)),
  }))
  return { enabled: random.below(4) > 0, otherwise: random.pick(['drop', 'allow']), rules }
}

/** The cloud after one change, and the unit that it is of. Undefined if the cloud has nothing to change. */
export function changed(
  cloud: ProjectedCloud,
  random: SeededRandom,
): { readonly cloud: ProjectedCloud; readonly network: ProjectedNetwork } | undefined {
  const network = cloud.networks[random.below(Math.max(1, cloud.networks.length))]
  if (!network) return undefined
  const nics = cloud.nics.filter((nic) => nic.network === network.id)
  const others = cloud.nics.filter((nic) => nic.network !== network.id)
  const way = random.below(5)
  const [nic] = nics
  const touched: Mutable<ProjectedNetwork> = { ...network }
  if (way === 0 && nic) return { network, cloud: { ...cloud, nics: [...others, ...nics.slice(1)] } }
  if (way === 1 && nic) {
    const moved = { ...nic, host: '00000000-0000-7000-8000-0000000000aa', connected: true }
    return { network, cloud: { ...cloud, nics: [...others, moved, ...nics.slice(1)] } }
  }
  if (way === 4 && nic) {
    const relabelled = { ...nic, groups: nic.groups.slice(1) }
    return { network, cloud: { ...cloud, nics: [...others, relabelled, ...nics.slice(1)] } }
  }
  if (way === 2) touched.dnsSuffix = 'changed.example'
  else touched.key = 100_000
  const networks = cloud.networks.map((each) => (each === network ? touched : each))
  return { network, cloud: { ...cloud, networks } }
}
