// Goal: organisations configure NAT, firewall and addresses of their edge gateways by the API, within their own networks and addresses.
// Method: the API over HTTP with a real PostgreSQL; a stand-in for the network server ends changes as the real one does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, childrenByLocalName, readXml, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { openZone, projectAll } from './open-zone.ts'
import { find, hrefOf, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let zone: { readonly zone: string; readonly fence: string }
let admin: string
let root: string
let gateway: string
let address: string

before(async () => {
  api = await openTenantsApi()
  zone = await openZone(api.cloud.db, api.cloud.host)
  await sql`update host set uplinks = '{out,lan}'`.execute(api.cloud.db)
  admin = await api.enter(api.eng.org, 'organisation administrator')
  root = await api.enter(api.eng.org, 'system administrator')
  gateway = api.eng.ids['edgeGateway'] ?? ''
  address = api.eng.ids['address'] ?? ''
  assert.equal((await makeNetwork('front', '10.7.0.1')).status, 201)
})
after(() => api[Symbol.asyncDispose]())

const vdc = () => api.eng.ids['vdc'] ?? ''
const at = (id = gateway) => `/api/admin/edgeGateway/${id}`

const makeNetwork = (name: string, router: string, of = gateway): Promise<Answered> =>
  api.ask('POST', `/api/admin/vdc/${vdc()}/networks`, {
    token: admin,
    body:
      `<OrgVdcNetwork name="${name}"><Configuration><IpScopes><IpScope><Gateway>${router}</Gateway>` +
      `<Netmask>255.255.255.0</Netmask></IpScope></IpScopes><FenceMode>natRouted</FenceMode></Configuration>` +
      `<EdgeGateway href="https://cloud.example/api/admin/edgeGateway/${of}"/></OrgVdcNetwork>`,
  })

const idOf = ({ text: document }: Answered): string =>
  hrefOf(readXml(document)).split('/').at(-1) ?? ''

interface Nat {
  readonly type?: 'DNAT' | 'SNAT'
  readonly from: string
  readonly to: string
  readonly port?: string
  readonly id?: string
}
const natRule = ({ type = 'DNAT', from, to, port, id }: Nat): string =>
  `<NatRule><RuleType>${type}</RuleType><IsEnabled>true</IsEnabled>${id === undefined ? '' : `<Id>${id}</Id>`}` +
  `<GatewayNatRule><OriginalIp>${from}</OriginalIp>${port === undefined ? '' : `<OriginalPort>${port}</OriginalPort>`}` +
  `<TranslatedIp>${to}</TranslatedIp></GatewayNatRule></NatRule>`
const nat = (...rules: readonly Nat[]): string =>
  `<NatService><IsEnabled>true</IsEnabled>${rules.map(natRule).join('')}</NatService>`

const route = (network: string, hop: string): string =>
  `<StaticRoutingService><StaticRoute><Network>${network}</Network><NextHopIp>${hop}</NextHopIp></StaticRoute></StaticRoutingService>`

const configure = (
  services: string,
  { id = gateway, token = admin, version }: { id?: string; token?: string; version?: number } = {},
): Promise<Answered> =>
  api.ask('POST', `${at(id)}/action/configureServices`, {
    token,
    body: `<EdgeGatewayServiceConfiguration${version === undefined ? '' : ` version="${version}"`}>${services}</EdgeGatewayServiceConfiguration>`,
  })

const read = async (id = gateway, token = admin): Promise<Element> => {
  const { status, text: document } = await api.ask('GET', at(id), { token })
  assert.equal(status, 200, document)
  return readXml(document)
}
const services = ['Configuration', 'EdgeGatewayServiceConfiguration'] as const
const textsAt = (of: Element, ...path: readonly string[]): readonly (string | undefined)[] =>
  find(of, ...path).map((each) => text(each))
const natIds = (of: Element) => textsAt(of, ...services, 'NatService', 'NatRule', 'Id')

async function refused(answer: Promise<Answered>, status: number, why: RegExp): Promise<void> {
  const { status: got, text: document } = await answer
  assert.equal(got, status, document)
  assert.match(document, why)
}

const ownAddress = async (id = gateway): Promise<string> => {
  const [uplink] = find(await read(id), 'Configuration', 'GatewayInterfaces', 'GatewayInterface')
  return text(find(uplink ?? assert.fail(), 'SubnetParticipation', 'IpAddress')[0]) ?? ''
}

test('an edge gateway shows its external network, its addresses and its networks, in both dialects', async () => {
  for (const { ask } of api.spoken) {
    const { status, text: document } = await ask('GET', at(), { token: api.eng.token })
    assert.equal(status, 200, document)
    const shown = readXml(document)
    const interfaces = find(shown, 'Configuration', 'GatewayInterfaces', 'GatewayInterface')
    assert.deepEqual(
      interfaces.map((each) => text(childrenByLocalName(each, 'InterfaceType')[0])),
      ['uplink', 'internal'],
    )
    assert.deepEqual(
      textsAt(
        interfaces[0] ?? assert.fail(),
        'SubnetParticipation',
        'IpRanges',
        'IpRange',
        'StartAddress',
      ),
      [address],
    )
    assert.equal(textsAt(shown, ...services, 'FirewallService', 'DefaultAction')[0], 'drop')
    assert.equal(find(shown, ...services, 'NatService').length, 1)
  }
})

test('a service in the request replaces that service, the others stay; rules keep their ids', async () => {
  const own = await ownAddress()
  const one = await configure(nat({ from: own, to: '10.7.0.5', port: '443' }))
  assert.equal(one.status, 202, one.text)
  assert.equal(attribute(readXml(one.text), 'operationName'), 'edgeGatewayConfigureServices')
  assert.equal(attribute(await read(), 'status'), '0')
  await projectAll(api.cloud.db, zone)
  const first = await read()
  assert.equal(attribute(first, 'status'), '1')
  const [id = ''] = natIds(first)
  assert.ok(Number(id) >= 65_537)
  const firewall =
    '<FirewallService><DefaultAction>drop</DefaultAction><FirewallRule><Policy>allow</Policy><Protocols><Tcp>true</Tcp></Protocols>' +
    '<DestinationPortRange>443</DestinationPortRange><DestinationIp>Any</DestinationIp></FirewallRule>' +
    '<FirewallRule><Policy>drop</Policy><SourceIp>internal</SourceIp></FirewallRule></FirewallService>'
  assert.equal((await configure(firewall)).status, 202)
  const second = await read()
  assert.deepEqual(natIds(second), [id])
  const rules = find(second, ...services, 'FirewallService', 'FirewallRule')
  assert.deepEqual(
    rules.map((each) => text(childrenByLocalName(each, 'Direction')[0])),
    ['in', 'out'],
  )
  const kept = { from: own, to: '10.7.0.6', port: '443', id: id ?? '' }
  const added = { from: own, to: '10.7.0.5', port: '80', id: '1' }
  assert.equal((await configure(nat(added, kept))).status, 202)
  const ids = natIds(await read())
  assert.equal(ids[1], id)
  assert.ok(Number(ids[0]) > Number(id) + 1, 'an unknown id is replaced by the next number')
  assert.equal((await configure(nat())).status, 202)
  assert.deepEqual(natIds(await read()), [])
})

test('a whole address is one rule, also if the client writes one for each direction; VMs show it', async () => {
  const pair = [
    { from: address, to: '10.7.0.9' },
    { type: 'SNAT', from: '10.7.0.9', to: address },
  ] as const
  const done = await configure(nat(...pair))
  assert.equal(done.status, 202, done.text)
  assert.equal(natIds(await read()).length, 1)
  const { vms } = await api.cloud.addVms(1)
  const network = await sql<{ id: string }>`
    select id from network where name = 'front' and deleted_at is null`.execute(api.cloud.db)
  await sql`insert into nic (org, vm, index, network, mode, "offset", address, mac, key)
    values (${api.eng.org}, ${vms[0]}, 0, ${network.rows[0]?.id}, 'POOL', 9, '10.7.0.9', '52:54:00:00:00:09', 10)`.execute(
    api.cloud.db,
  )
  const shown = await api.ask('GET', `/api/vApp/vm-${vms[0]}/networkConnectionSection`, {
    token: api.eng.token,
  })
  const [connection] = find(readXml(shown.text), 'NetworkConnection')
  assert.equal(
    text(childrenByLocalName(connection ?? assert.fail(), 'ExternalIpAddress')[0]),
    address,
  )
  await sql`delete from nic`.execute(api.cloud.db)
  assert.equal((await configure(nat())).status, 202)
})

test('rules name only addresses of the organisation, and the refusal lists those that can be used', async () => {
  const own = await ownAddress()
  const others = api.ops.ids['address'] ?? ''
  const usable = new RegExp(`available: ${own}, ${address}`)
  const cases: readonly [Nat, RegExp][] = [
    [{ from: '203.0.113.251', to: '10.7.0.5', port: '80' }, usable],
    [{ from: others === address ? '198.51.100.1' : others, to: '10.7.0.5', port: '80' }, usable],
    [{ from: own, to: '10.7.0.5' }, new RegExp(`available: ${address}`)],
    [{ from: own, to: '192.0.2.1', port: '80' }, /is in no network of the edge gateway/],
    [{ from: address, to: '10.8.0.1' }, /is in no network of the edge gateway/],
    [{ type: 'SNAT', from: '10.0.0.0/8', to: own }, /is in no network of the edge gateway/],
    [{ from: own, to: '10.7.0.5', port: '0' }, /port from 1 to 65535/],
    [{ from: 'office', to: '10.7.0.5', port: '1' }, /must be an IPv4 address/],
  ]
  for (const [rule, why] of cases) await refused(configure(nat(rule)), 400, why)
  const twice = { from: own, to: '10.7.0.5', port: '80' }
  await refused(configure(nat(twice, twice)), 400, /another rule translates tcp port 80/)
  const whole = { from: address, to: '10.7.0.5' }
  const leaving = { type: 'SNAT', from: '10.7.0.5', to: own } as const
  await refused(configure(nat(whole, leaving)), 400, /translates addresses 10\.7\.0\.5\/32/)
  const many = Array.from({ length: 129 }, (_, port) => ({ ...twice, port: String(port + 1) }))
  await refused(configure(nat(...many)), 400, /at most 128/)
  await refused(configure(''), 400, /names no service/)
  await refused(configure(route('172.16.0.0/16', '192.0.2.9')), 400, /must be in one of/)
  await refused(configure(route('0.0.0.0/0', '10.7.0.9')), 400, /go to the external network/)
  const peer =
    '<FirewallService><FirewallRule><SourceIp>10.0.0.9-10.0.0.1</SourceIp></FirewallRule></FirewallService>'
  await refused(configure(peer), 400, /a range such as 10\.0\.0\.5-10\.0\.0\.9/)
})

test('an edge gateway of another organisation does not exist for anybody else', async () => {
  const foreign = api.ops.ids['edgeGateway'] ?? ''
  const own = await ownAddress()
  await refused(
    configure(nat({ from: own, to: '10.7.0.5', port: '80' }), { id: foreign }),
    404,
    /not yours/,
  )
  await refused(api.ask('GET', at(foreign), { token: admin }), 404, /not yours/)
  await refused(
    api.ask('POST', `${at(foreign)}/externalAddresses`, {
      token: admin,
      body: '<ExternalAddress/>',
    }),
    404,
    /not yours/,
  )
  await refused(
    makeNetwork('stolen', '10.66.0.1', foreign),
    400,
    /edge gateway not found in this vdc/,
  )
  const listed = await api.ask('GET', '/api/query?type=edgeGateway', { token: admin })
  assert.ok(!listed.text.includes(foreign), listed.text)
  const inside = await api.ask('GET', `/api/admin/vdc/${vdc()}/edgeGateways`, { token: admin })
  assert.deepEqual(
    find(readXml(inside.text), 'EdgeGatewayRecord').map((each) => hrefOf(each).split('/').at(-1)),
    [gateway],
  )
})

test('of two changes that read the same version the second is refused', async () => {
  const own = await ownAddress()
  const version = Number(attribute(await read(), 'version'))
  const change = (port: string) => configure(nat({ from: own, to: '10.7.0.5', port }), { version })
  const both = await Promise.all([change('1001'), change('1002')])
  assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([202, 409]))
  await refused(change('1003'), 409, new RegExp(`has version ${version + 1} now, not ${version}`))
  const put = await api.ask('PUT', at(), {
    token: admin,
    body: `<EdgeGateway name="edge" version="${version}"/>`,
  })
  assert.equal(put.status, 409)
  assert.equal((await configure(nat())).status, 202)
})

test('an external address is taken and given back, but not while a rule uses it', async () => {
  const post = (body: string, token = admin) =>
    api.ask('POST', `${at()}/externalAddresses`, { token, body })
  const taken = await post('<ExternalAddress/>')
  assert.equal(taken.status, 201, taken.text)
  const next = text(find(readXml(taken.text), 'IpAddress')[0]) ?? ''
  const named = await post(
    '<ExternalAddress><IpAddress>203.0.113.200</IpAddress></ExternalAddress>',
  )
  assert.equal(named.status, 201, named.text)
  const again = '<ExternalAddress><IpAddress>203.0.113.200</IpAddress></ExternalAddress>'
  await refused(post(again), 409, /is in use/)
  await refused(
    post('<ExternalAddress><IpAddress>203.0.113.1</IpAddress></ExternalAddress>'),
    400,
    /not in the pool/,
  )
  assert.equal((await configure(nat({ from: next, to: '10.7.0.7' }))).status, 202)
  const release = (which: string) =>
    api.ask('DELETE', `${at()}/externalAddresses/${which}`, { token: admin })
  await refused(release(next), 409, /NAT rule \d+ uses/)
  assert.equal((await configure(nat())).status, 202)
  assert.equal((await release(next)).status, 204)
  await refused(release(next), 404, /has no such external address/)
  assert.equal((await release('203.0.113.200')).status, 204)
  const own = await ownAddress()
  await refused(release(own), 404, /has no such external address/)
  await refused(
    configure(nat({ from: next, to: '10.7.0.7' })),
    400,
    /not an external address for it/,
  )
  const { rows } = await sql<{
    kinds: string[]
  }>`select array_agg(distinct kind order by kind) as kinds from event
    where org = ${api.eng.org} and (kind like 'address.%' or kind like 'edge.%')`.execute(
    api.cloud.db,
  )
  assert.deepEqual(rows[0]?.kinds, ['address.released', 'address.taken', 'edge.changed'])
})

test('the quota of external addresses refuses one more', async () => {
  const quota = '<AdminOrg><Quota externalAddresses="1" edgeGateways="1"/></AdminOrg>'
  const set = await api.ask('PUT', `/api/admin/org/${api.eng.org}`, { token: root, body: quota })
  assert.equal(set.status, 200, set.text)
  const { text: shown } = await api.ask('GET', `/api/admin/org/${api.eng.org}`, { token: root })
  const [used] = find(readXml(shown), 'Used')
  assert.deepEqual(
    ['externalAddresses', 'edgeGateways'].map((name) => attribute(used, name)),
    ['1', '1'],
  )
  await refused(
    api.ask('POST', `${at()}/externalAddresses`, { token: admin, body: '<ExternalAddress/>' }),
    409,
    /may have 1 external addresses/,
  )
  await refused(
    api.ask('POST', `/api/admin/vdc/${vdc()}/edgeGateways`, {
      token: root,
      body: '<EdgeGateway name="second"/>',
    }),
    409,
    /may have 1 edge gateways/,
  )
  const none = '<AdminOrg><Quota/></AdminOrg>'
  await api.ask('PUT', `/api/admin/org/${api.eng.org}`, { token: root, body: none })
})

test('a network stays while a rule or a route names its addresses', async () => {
  const made = await makeNetwork('back', '10.9.0.1')
  assert.equal(made.status, 201, made.text)
  const own = await ownAddress()
  const path = `/api/admin/network/${idOf(made)}`
  const moved =
    '<OrgVdcNetwork name="back"><Configuration><IpScopes><IpScope><Gateway>10.10.0.1</Gateway><Netmask>255.255.255.0</Netmask>' +
    '</IpScope></IpScopes><FenceMode>natRouted</FenceMode></Configuration></OrgVdcNetwork>'
  const rules = [nat({ from: own, to: '10.9.0.5', port: '80' }), route('172.16.0.0/16', '10.9.0.9')]
  for (const service of rules) {
    const done = await configure(service)
    assert.equal(done.status, 202, done.text)
    await refused(api.ask('DELETE', path, { token: admin }), 409, /edge gateway edge needs it/)
    await refused(
      api.ask('PUT', path, { token: admin, body: moved }),
      409,
      /edge gateway edge needs it/,
    )
    assert.equal((await configure(`${nat()}<StaticRoutingService/>`)).status, 202)
  }
  assert.equal((await api.ask('DELETE', path, { token: admin })).status, 202)
})

test('where nothing arrives, a static route leads to no router of another organisation', async () => {
  const made = await api.ask('POST', `/api/admin/vdc/${vdc()}/edgeGateways`, {
    token: root,
    body: '<EdgeGateway name="inner"/>',
  })
  assert.equal(made.status, 201, made.text)
  const id = idOf(made)
  assert.match(await ownAddress(id), /^100\.64\./)
  const neighbour = '100.64.0.99'
  const reached = route('10.84.0.0/20', neighbour)
  await refused(configure(reached, { id }), 400, /must be in a network of the edge gateway/)
  assert.equal((await makeNetwork('inner', '10.12.0.1', id)).status, 201)
  await refused(configure(reached, { id }), 400, /99 must be in one of 10\.12\.0\.0\/24/)
  assert.equal((await configure(route('10.84.0.0/20', '10.12.0.9'), { id })).status, 202)
  const outside = await configure(route('10.84.0.0/20', '203.0.113.3'))
  assert.equal(outside.status, 202, 'an external network of the site has routers of the site')
  assert.equal((await configure('<StaticRoutingService/>')).status, 202)
})

test('the edge gateways of a vdc are those of the vdc, whatever the filter', async () => {
  const filter = encodeURIComponent('name==none),(numberOfExtNetworks==1')
  const path = `/api/admin/vdc/${vdc()}/edgeGateways?filter=`
  await refused(api.ask('GET', `${path}${filter}`, { token: root }), 400, /filter/)
  const one = await api.ask('GET', `${path}name==none,name==edge`, { token: root })
  assert.deepEqual(
    find(readXml(one.text), 'EdgeGatewayRecord').map((each) => hrefOf(each).split('/').at(-1)),
    [gateway],
  )
})

test('a repeated request with the same key takes one external address', async () => {
  const take = () =>
    api.ask('POST', `${at()}/externalAddresses`, {
      token: admin,
      body: '<ExternalAddress/>',
      headers: { 'idempotency-key': 'take once' },
    })
  const both = await Promise.all([take(), take()])
  const [one = '', other] = both.map(({ status, text: document }) => {
    assert.equal(status, 201, document)
    return text(find(readXml(document), 'IpAddress')[0])
  })
  assert.equal(one, other)
  const { text: listed } = await api.ask('GET', `${at()}/externalAddresses`, { token: admin })
  const shown = find(readXml(listed), 'ExternalAddress', 'IpAddress').map((each) => text(each))
  assert.deepEqual(new Set(shown), new Set([address, one]))
  const released = await api.ask('DELETE', `${at()}/externalAddresses/${one}`, { token: admin })
  assert.equal(released.status, 204, released.text)
  await refused(take(), 409, /was released/)
})
