// Goal: administrators of the cloud make, change and delete external networks; what is in use stays.
// Method: the API over HTTP with a real PostgreSQL.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, childrenByLocalName, readXml, text } from '@skerry/xml'
import { sql } from 'kysely'

import { openZone } from './open-zone.ts'
import { find, hrefOf, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let root: string

before(async () => {
  api = await openTenantsApi()
  await openZone(api.cloud.db, api.cloud.host)
  await sql`update host set uplinks = '{out,lan,world}'`.execute(api.cloud.db)
  root = await api.enter(api.eng.org, 'system administrator')
})
after(() => api[Symbol.asyncDispose]())

const LIST = '/api/admin/extension/externalNetworks'

interface Wanted {
  readonly netmask?: string
  readonly ranges?: readonly (readonly [string, string])[]
  readonly more?: string
}
const bodyOf = (
  name: string,
  {
    netmask = '255.255.255.0',
    ranges = [['198.51.100.10', '198.51.100.12']],
    more = '<Uplink>world</Uplink>',
  }: Wanted = {},
): string =>
  `<VMWExternalNetwork name="${name}"><Configuration><IpScopes><IpScope><Gateway>198.51.100.1</Gateway><Netmask>${netmask}</Netmask>` +
  `<Dns1>198.51.100.2</Dns1><IpRanges>${ranges
    .map(
      ([start, end]) =>
        `<IpRange><StartAddress>${start}</StartAddress><EndAddress>${end}</EndAddress></IpRange>`,
    )
    .join(
      '',
    )}</IpRanges></IpScope></IpScopes><FenceMode>isolated</FenceMode></Configuration>${more}</VMWExternalNetwork>`

const add = (name: string, wanted?: Wanted): Promise<Answered> =>
  api.ask('POST', LIST, { token: root, body: bodyOf(name, wanted) })
const idOf = ({ text: document }: Answered): string =>
  hrefOf(readXml(document)).split('/').at(-1) ?? ''
const at = (id: string): string => `/api/admin/extension/externalnet/${id}`

async function refused(answer: Promise<Answered>, status: number, why: RegExp): Promise<void> {
  const { status: got, text: document } = await answer
  assert.equal(got, status, document)
  assert.match(document, why)
}

test('default edge gateways lead to the default external network if a host is connected to it', async () => {
  const made = await add('world', { more: '<Uplink>world</Uplink><IsDefault>true</IsDefault>' })
  assert.equal(made.status, 201, made.text)
  const admin = await api.enter(api.eng.org, 'organisation administrator')
  const network = (name: string, third: number, vdc: string) =>
    api.ask('POST', `/api/admin/vdc/${vdc}/networks`, {
      token: admin,
      body:
        `<OrgVdcNetwork name="${name}"><Configuration><IpScopes><IpScope><Gateway>10.20.${third}.1</Gateway><Netmask>255.255.255.0</Netmask>` +
        '</IpScope></IpScopes><FenceMode>natRouted</FenceMode></Configuration></OrgVdcNetwork>',
    })
  const first = await network('first', 1, api.eng.ids['vdc'] ?? '')
  assert.equal(first.status, 201, first.text)
  const outside = async (answer: Answered) => {
    const [reference] = find(readXml(answer.text), 'EdgeGateway')
    const { text: document } = await api.ask('GET', new URL(hrefOf(reference)).pathname, {
      token: admin,
    })
    const [uplink] = find(
      readXml(document),
      'Configuration',
      'GatewayInterfaces',
      'GatewayInterface',
    )
    return text(childrenByLocalName(uplink ?? assert.fail(), 'Name')[0])
  }
  assert.equal(await outside(first), 'world')
  await sql`update host set uplinks = '{out,lan}'`.execute(api.cloud.db)
  const second = await api.cloud.db
    .insertInto('vdc')
    .values({ org: api.eng.org, name: 'second' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const other = await network('second', 2, second.id)
  assert.equal(other.status, 201, other.text)
  assert.equal(await outside(other), 'outbound')
  await sql`update host set uplinks = '{out,lan,world}'`.execute(api.cloud.db)
  const later = await add('later', {
    more: '<Uplink>world</Uplink><Vlan>7</Vlan><IsDefault>true</IsDefault>',
  })
  assert.equal(later.status, 201, later.text)
  const { text: before } = await api.ask('GET', at(idOf(made)), { token: root })
  assert.equal(text(find(readXml(before), 'IsDefault')[0]), 'false', 'a zone has one default')
})

test('a pool keeps the addresses that are in use, and a network in use stays', async () => {
  const { rows } = await sql<{
    id: string
    address: string
  }>`select external_network.id, external_address.address
    from external_network join external_address on external_address.external = external_network.id
    where external_network.name = 'world'`.execute(api.cloud.db)
  const { id = '', address = '' } = rows[0] ?? {}
  assert.equal(address, '198.51.100.10')
  const put = (wanted: Wanted, token = root) =>
    api.ask('PUT', at(id), { token, body: bodyOf('world', wanted) })
  await refused(
    put({ ranges: [['198.51.100.11', '198.51.100.20']] }),
    409,
    /in use: 198\.51\.100\.10/,
  )
  const wider = await put({ ranges: [['198.51.100.5', '198.51.100.90']] })
  assert.equal(wider.status, 200, wider.text)
  const shown = readXml(wider.text)
  assert.deepEqual(
    ['AllocatedIpCount', 'TotalIpCount'].map((name) => text(find(shown, name)[0])),
    ['1', '86'],
  )
  await refused(
    put({ netmask: '255.255.0.0' }),
    409,
    /Netmask of an external network cannot be changed/,
  )
  await refused(put({ more: '<Uplink>lan</Uplink><Vlan>9</Vlan>' }), 409, /Uplink and Vlan/)
  await refused(api.ask('DELETE', at(id), { token: root }), 409, /leads to external network world/)
  const away = { more: '<Uplink>world</Uplink><Vlan>8</Vlan>' }
  const idle = idOf(await add('idle', away))
  await refused(add('idle', away), 409, /external network idle already exists/)
  assert.equal((await api.ask('DELETE', at(idle), { token: root })).status, 204)
  assert.equal((await api.ask('GET', at(idle), { token: root })).status, 404)
  assert.equal((await add('idle', away)).status, 201, 'its name and its pool are free again')
})

test('the network of the system is there, and cannot be changed', async () => {
  const { text: list } = await api.ask('GET', LIST, { token: root })
  const outbound = find(readXml(list), 'ExternalNetworkReference').find(
    (each) => attribute(each, 'name') === 'outbound',
  )
  const path = new URL(hrefOf(outbound)).pathname
  const put = api.ask('PUT', path, { token: root, body: '<VMWExternalNetwork name="in"/>' })
  await refused(put, 409, /belongs to the system/)
  await refused(api.ask('DELETE', path, { token: root }), 409, /belongs to the system/)
})

test('what cannot be an external network is refused with the reason', async () => {
  const cases: readonly [Wanted, RegExp][] = [
    [{ more: '' }, /needs an Uplink/],
    [{ more: '<Uplink>Big One</Uplink>' }, /Uplink must have/],
    [{ more: '<Uplink>world</Uplink><Vlan>4095</Vlan>' }, /Vlan must be from 1 to 4094/],
    [{ ranges: [['198.51.100.1', '198.51.100.9']] }, /contains the gateway/],
    [{ ranges: [['192.0.2.1', '192.0.2.9']] }, /must be within/],
    [{ netmask: '255.255.255.254' }, /Netmask must be from/],
  ]
  for (const [wanted, why] of cases) await refused(add('refused', wanted), 400, why)
})

test('a bridged network is the external network itself; the cloud gives no addresses on it', async () => {
  const parent = api.eng.ids['externalNetwork'] ?? ''
  const body = (id: string) =>
    `<OrgVdcNetwork name="wire"><Configuration><ParentNetwork href="https://cloud.example${at(id)}"/><FenceMode>bridged</FenceMode>` +
    '</Configuration><IsShared>true</IsShared></OrgVdcNetwork>'
  const path = `/api/admin/vdc/${api.eng.ids['vdc']}/networks`
  const admin = await api.enter(api.eng.org, 'organisation administrator')
  await refused(api.ask('POST', path, { token: admin, body: body(parent) }), 403, /external:admin/)
  const outbound = '00000000-0000-7000-8000-000000000002'
  await refused(api.ask('POST', path, { token: root, body: body(outbound) }), 400, /ParentNetwork/)
  const made = await api.ask('POST', path, { token: root, body: body(parent) })
  assert.equal(made.status, 201, made.text)
  const document = readXml(made.text)
  const [reference] = find(document, 'Configuration', 'ParentNetwork')
  assert.equal(attribute(reference, 'name'), 'office of eng')
  assert.equal(find(document, 'Configuration', 'IpScopes').length, 0)
  const { vms } = await api.cloud.addVms(1)
  await sql`update vm set host = null where id = ${vms[0]}`.execute(api.cloud.db)
  const connect = (mode: string) =>
    api.ask('PUT', `/api/vApp/vm-${vms[0]}/networkConnectionSection`, {
      token: api.eng.token,
      body:
        '<NetworkConnectionSection xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1"><ovf:Info>cards</ovf:Info>' +
        `<NetworkConnection network="wire"><NetworkConnectionIndex>0</NetworkConnectionIndex><IsConnected>true</IsConnected>` +
        `<IpAddressAllocationMode>${mode}</IpAddressAllocationMode></NetworkConnection></NetworkConnectionSection>`,
    })
  await refused(connect('POOL'), 400, /no addresses of the cloud/)
  const done = await connect('DHCP')
  assert.equal(done.status, 202, done.text)
})

test('an address is in the pool of one external network of its uplink and VLAN', async () => {
  const pool = (from: number, to: number, more = '<Uplink>lan</Uplink>'): Wanted => ({
    ranges: [[`198.51.100.${from}`, `198.51.100.${to}`]],
    more,
  })
  const made = await add('low', pool(10, 20))
  assert.equal(made.status, 201, made.text)
  const shared = /198\.51\.100\.20 is in the pool of external network low/
  await refused(add('over', pool(20, 30)), 409, shared)
  assert.equal(
    (await add('tagged', pool(20, 30, '<Uplink>lan</Uplink><Vlan>8</Vlan>'))).status,
    201,
  )
  const high = await add('high', pool(21, 30))
  assert.equal(high.status, 201, high.text)
  const change = (wanted: Wanted) =>
    api.ask('PUT', at(idOf(high)), { token: root, body: bodyOf('high', wanted) })
  await refused(
    change(pool(15, 30)),
    409,
    /198\.51\.100\.15 is in the pool of external network low/,
  )
  assert.equal((await change(pool(21, 40))).status, 200)
  // Two at once are made one after the other.
  const both = await Promise.all([add('one', pool(50, 60)), add('two', pool(50, 60))])
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409],
  )
})
