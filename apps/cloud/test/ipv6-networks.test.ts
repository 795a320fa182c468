// Goal: routed networks have IPv6 if their organisation wants it, and cards show the addresses that their guests make. Method: the API over
// HTTP with a real PostgreSQL.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { eui64Address } from '@skerry/vm'
import { attribute, childrenByLocalName, readXml, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { writeNics } from '../src/inventory/nics.ts'
import { openZone } from './open-zone.ts'
import { find, hrefOf, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let admin: string
let vdc: string

before(async () => {
  api = await openTenantsApi()
  await openZone(api.cloud.db, api.cloud.host)
  admin = await api.enter(api.eng.org, 'organisation administrator')
  vdc = api.eng.ids['vdc'] ?? ''
})
after(() => api[Symbol.asyncDispose]())

const bodyOf = (name: string, fence: string, gateway: string, more = ''): string =>
  `<OrgVdcNetwork name="${name}"><Configuration><IpScopes><IpScope><Gateway>${gateway}</Gateway><Netmask>255.255.255.0</Netmask>` +
  `</IpScope></IpScopes><FenceMode>${fence}</FenceMode></Configuration>${more}</OrgVdcNetwork>`

const make = (body: string, token = admin, { ask }: Pick<TenantsApi, 'ask'> = api) =>
  ask('POST', `/api/admin/vdc/${vdc}/networks`, { token, body })

const change = (id: string, more: string) =>
  api.ask('PUT', `/api/admin/network/${id}`, {
    token: admin,
    body: `<OrgVdcNetwork>${more}</OrgVdcNetwork>`,
  })

const idOf = ({ status, text: document }: Answered): string => {
  assert.equal(status, 201, document)
  return hrefOf(readXml(document)).split('/').at(-1) ?? ''
}

const child = (node: Element | undefined, name: string): string | undefined =>
  node && text(childrenByLocalName(node, name)[0])

const read = async (id: string, { ask }: Pick<TenantsApi, 'ask'> = api): Promise<Element> =>
  readXml((await ask('GET', `/api/network/${id}`, { token: api.eng.token })).text)

const IPV6 = '<IsIpv6Enabled>true</IsIpv6Enabled>'
const NO_IPV6 = '<IsIpv6Enabled>false</IsIpv6Enabled>'

test('a routed network has IPv6 if it is wanted, with a prefix that no other network has, in both dialects', async () => {
  const prefixes: (string | undefined)[] = []
  for (const [at, { ask }] of api.spoken.entries()) {
    const body = bodyOf(`dual-${at}`, 'natRouted', `10.30.${at}.1`, IPV6)
    const shown = await read(idOf(await make(body, admin, { ask })), { ask })
    assert.equal(child(shown, 'IsIpv6Enabled'), 'true')
    prefixes.push(child(shown, 'Ipv6Prefix'))
    const { text: found } = await ask(
      'GET',
      `/api/query?type=orgVdcNetwork&format=records&filter=ipv6Prefix==${prefixes[at]}`,
      { token: api.eng.token },
    )
    const [record] = find(readXml(found), 'OrgVdcNetworkRecord')
    assert.equal(attribute(record, 'name'), `dual-${at}`)
  }
  for (const prefix of prefixes) {
    assert.match(prefix ?? '', /^fd[0-9a-f]{2}(:[0-9a-f]{1,4}){0,3}::\/64$/)
  }
  assert.equal(new Set(prefixes).size, prefixes.length)
  const { status, text: json } = await api.ask('POST', `/api/admin/vdc/${vdc}/networks`, {
    token: admin,
    headers: { 'content-type': 'application/json', accept: 'application/*+json;version=5.1' },
    body: JSON.stringify({
      name: 'dual-json',
      configuration: {
        ipScopes: { ipScope: { gateway: '10.30.9.1', netmask: '255.255.255.0' } },
        fenceMode: 'natRouted',
      },
      isIpv6Enabled: true,
    }),
  })
  assert.equal(status, 201, json)
  assert.match((JSON.parse(json) as { ipv6Prefix: string }).ipv6Prefix, /^fd.*::\/64$/)
  const plain = await make(bodyOf('single', 'natRouted', '10.30.8.1'))
  assert.ok(!plain.text.includes('pv6'), 'none, unless it is wanted')
})

test('isolated and bridged networks have no IPv6, and are refused in words', async () => {
  const root = await api.enter(api.eng.org, 'system administrator')
  for (const fence of ['isolated', 'bridged']) {
    const body = bodyOf('refused', fence, '192.168.31.1', IPV6)
    const { status, text: document } = await make(body, root)
    assert.equal(status, 400, document)
    assert.match(document, /network refused cannot have IPv6: only natRouted networks can/)
  }
  const id = idOf(await make(bodyOf('inside', 'isolated', '192.168.30.1')))
  const refused = await change(id, IPV6)
  assert.equal(refused.status, 400, refused.text)
  assert.match(refused.text, /only natRouted networks can/)
  assert.equal((await change(id, NO_IPV6)).status, 202)
})

test('IPv6 of a network is switched on and off while no VM is on it; a new prefix is another one', async () => {
  const id = idOf(await make(bodyOf('switched', 'natRouted', '10.30.7.1')))
  const prefixAfter = async (more: string) => {
    assert.equal((await change(id, more)).status, 202)
    return child(await read(id), 'Ipv6Prefix')
  }
  const first = await prefixAfter(IPV6)
  assert.match(first ?? '', /^fd/)
  assert.equal(await prefixAfter(IPV6), first)
  assert.equal(await prefixAfter('<Description>kept</Description>'), first)
  const { vms } = await api.cloud.addVms(1)
  await sql`insert into nic (org, vm, index, network, mode, "offset", address, mac, key)
    values (${api.eng.org}, ${vms[0]}, 0, ${id}, 'POOL', 10, '10.30.7.10', '52:54:00:00:00:01', 10)`.execute(
    api.cloud.db,
  )
  const refused = await change(id, NO_IPV6)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /is on network switched/)
  assert.equal(await prefixAfter(IPV6), first, 'as it is')
  await sql`delete from nic where network = ${id}`.execute(api.cloud.db)
  assert.equal(await prefixAfter(NO_IPV6), undefined)
  const second = await prefixAfter(IPV6)
  assert.ok(second !== undefined && second !== first)
})

test('a card on a network with IPv6 shows the address that its guest makes, in both dialects, and may be sent back', async () => {
  const { db } = api.cloud
  const network = idOf(await make(bodyOf('cards', 'natRouted', '10.30.6.1', IPV6)))
  const prefix = child(await read(network), 'Ipv6Prefix') ?? ''
  const { vms } = await api.cloud.addVms(1)
  const [vm] = vms
  assert.ok(vm)
  await sql`update vm set vdc = ${vdc} where id = ${vm}`.execute(db)
  const lab = api.eng.ids['network'] ?? ''
  const nics = [network, lab].map((each, index) => {
    return { index, network: each, mode: 'POOL' as const, connected: true }
  })
  await db.transaction().execute((tx) => writeNics(tx, api.eng.org, new Map([[vm, nics]])))
  for (const { ask } of api.spoken) {
    const path = `/api/vApp/vm-${vm}/networkConnectionSection`
    const { text: document } = await ask('GET', path, { token: api.eng.token })
    const shown = childrenByLocalName(readXml(document), 'NetworkConnection')
    const mac = child(shown[0], 'MACAddress') ?? ''
    const addresses = shown.map((each) => child(each, 'Ipv6Address'))
    assert.deepEqual(addresses, [eui64Address(prefix, mac), undefined])
    const again = await ask('PUT', path, { token: api.eng.token, body: document })
    assert.equal(again.status, 202, again.text)
  }
})
