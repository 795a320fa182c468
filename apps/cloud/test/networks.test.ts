// Goal: organisations make, change and delete networks by the API, in both dialects; a task ends when the change is projected.
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
let vdc: string

before(async () => {
  api = await openTenantsApi()
  zone = await openZone(api.cloud.db, api.cloud.host)
  admin = await api.enter(api.eng.org, 'organisation administrator')
  vdc = api.eng.ids['vdc'] ?? ''
})
after(() => api[Symbol.asyncDispose]())

interface Wanted {
  readonly fence?: string
  readonly gateway?: string
  readonly netmask?: string
  readonly more?: string
}

const bodyOf = (
  name: string,
  {
    fence = 'isolated',
    gateway = '192.168.7.1',
    netmask = '255.255.255.0',
    more = '',
  }: Wanted = {},
): string =>
  `<OrgVdcNetwork name="${name}"><Configuration><IpScopes><IpScope><Gateway>${gateway}</Gateway>` +
  `<Netmask>${netmask}</Netmask>${more}</IpScope></IpScopes><FenceMode>${fence}</FenceMode></Configuration></OrgVdcNetwork>`

const make = (name: string, wanted?: Wanted, headers: Readonly<Record<string, string>> = {}) =>
  api.ask('POST', `/api/admin/vdc/${vdc}/networks`, {
    token: admin,
    body: bodyOf(name, wanted),
    headers,
  })

const idOf = ({ text: document }: Answered): string =>
  hrefOf(readXml(document)).split('/').at(-1) ?? ''

const read = async (id: string): Promise<Element> => {
  const { status, text: document } = await api.ask('GET', `/api/network/${id}`, {
    token: api.eng.token,
  })
  assert.equal(status, 200, document)
  return readXml(document)
}

const textAt = (root: Element, ...path: readonly string[]): string | undefined =>
  text(find(root, ...path)[0])

test('a network is made with its task, which ends when the network is projected', async () => {
  const made = await make('blue', {
    more: '<Dns1>192.168.7.2</Dns1><DnsSuffix>blue.example</DnsSuffix>',
  })
  assert.equal(made.status, 201, made.text)
  const document = readXml(made.text)
  assert.equal(attribute(document, 'status'), '0')
  const [task] = find(document, 'Tasks', 'Task')
  assert.equal(attribute(task, 'operationName'), 'networkCreateOrgVdcNetwork')
  assert.equal(attribute(task, 'status'), 'running')
  const links = task ? childrenByLocalName(task, 'Link') : []
  assert.ok(!links.some((each) => attribute(each, 'rel') === 'task:cancel'))
  const cancelled = await api.ask('POST', `${new URL(hrefOf(task)).pathname}/action/cancel`, {
    token: admin,
  })
  assert.equal(cancelled.status, 409, cancelled.text)
  await projectAll(api.cloud.db, zone)
  const ready = await read(idOf(made))
  assert.equal(attribute(ready, 'status'), '1')
  const scope = ['Configuration', 'IpScopes', 'IpScope']
  assert.equal(textAt(ready, ...scope, 'Gateway'), '192.168.7.1')
  assert.equal(textAt(ready, ...scope, 'DnsSuffix'), 'blue.example')
  assert.equal(textAt(ready, ...scope, 'IpRanges', 'IpRange', 'StartAddress'), '192.168.7.2')
  assert.equal(textAt(ready, ...scope, 'IpRanges', 'IpRange', 'EndAddress'), '192.168.7.254')
  const { text: ended } = await api.ask('GET', new URL(hrefOf(task)).pathname, { token: admin })
  assert.equal(attribute(readXml(ended), 'status'), 'success')
})

test('a repeated request with the same key makes one network', async () => {
  const [one, other] = [
    await make('once', {}, { 'idempotency-key': 'once' }),
    await make('once', {}, { 'idempotency-key': 'once' }),
  ]
  assert.deepEqual([one.status, other.status], [201, 201])
  assert.equal(idOf(one), idOf(other))
  assert.equal((await make('once')).status, 409)
  await projectAll(api.cloud.db, zone)
  // Clients follow the task of the response: it is there also when it has ended.
  const ended = readXml((await make('once', {}, { 'idempotency-key': 'once' })).text)
  const [task] = find(ended, 'Tasks', 'Task')
  assert.deepEqual([attribute(task, 'status'), attribute(ended, 'status')], ['success', '1'])
})

test('a repeated request to delete a network gets the same task; another one finds no network', async () => {
  const path = `/api/admin/network/${idOf(await make('brief'))}`
  const remove = (key: string) =>
    api.ask('DELETE', path, { token: admin, headers: { 'idempotency-key': key } })
  const [one, again] = [await remove('brief'), await remove('brief')]
  assert.deepEqual([one.status, again.status], [202, 202], again.text)
  assert.equal(hrefOf(readXml(one.text)), hrefOf(readXml(again.text)))
  assert.equal((await remove('brief-2')).status, 404)
})

test('routed networks of an edge gateway must not overlap; isolated ones and those of another organisation may', async () => {
  const routed = { fence: 'natRouted', gateway: '10.9.0.1' }
  const first = await make('web', routed)
  assert.equal(first.status, 201, first.text)
  assert.ok(find(readXml(first.text), 'EdgeGateway')[0])
  const meets = await make('web-2', {
    ...routed,
    gateway: '10.9.0.129',
    netmask: '255.255.255.128',
  })
  assert.equal(meets.status, 409)
  assert.match(meets.text, /network web of the same edge gateway has the addresses 10\.9\.0\.0\/24/)
  assert.equal((await make('web-3', { ...routed, gateway: '10.9.1.1' })).status, 201)
  assert.equal((await make('inner', { gateway: '10.9.0.1' })).status, 201)
  const others = await api.ask('POST', `/api/admin/vdc/${api.ops.ids['vdc']}/networks`, {
    token: await api.enter(api.ops.org, 'organisation administrator'),
    body: bodyOf('web', routed),
  })
  assert.equal(others.status, 201, others.text)
  const { rows } = await sql<{ ports: number[] }>`
    select array_agg(edge_port order by edge_port) as ports from network where org = ${api.eng.org} and kind = 'routed'`.execute(
    api.cloud.db,
  )
  assert.deepEqual(rows[0]?.ports, [10, 11])
  // The row of the first is deleted long after the network.
  const { db } = api.cloud
  const id = idOf(first)
  await sql`delete from task where network = ${id}`.execute(db)
  await sql`delete from network where id = ${id}`.execute(db)
  const next = idOf(await make('web-4', { ...routed, gateway: '10.9.2.1' }))
  const { edge_port: port } = await db
    .selectFrom('network')
    .select('edge_port')
    .where('id', '=', next)
    .executeTakeFirstOrThrow()
  assert.equal(port, 10, 'the lowest free one')
})

test('what cannot be a network is refused with the reason', async () => {
  const refused: [Wanted, RegExp][] = [
    [{ gateway: '10.0.0.0' }, /first address/],
    [{ netmask: '255.255.255.252' }, /Netmask must be from/],
    [{ fence: '' }, /isolated, natRouted or bridged/],
    [{ more: '<Dns1>one</Dns1>' }, /Dns1 must be an IPv4 address/],
    [{ more: '<DnsSuffix>-x</DnsSuffix>' }, /name of a domain/],
    [
      { more: '<IpRanges><IpRange><StartAddress>192.168.7.9</StartAddress></IpRange></IpRanges>' },
      /EndAddress/,
    ],
  ]
  for (const [wanted, why] of refused) {
    const { status, text: document } = await make('refused', wanted)
    assert.equal(status, 400, document)
    assert.match(document, why)
  }
})

test('a change keeps what it does not name; the range stays while a VM is on the network', async () => {
  const id = idOf(await make('changing', { gateway: '192.168.8.1' }))
  const put = (body: string) => api.ask('PUT', `/api/admin/network/${id}`, { token: admin, body })
  assert.equal((await put('<OrgVdcNetwork name="changed"/>')).status, 202)
  await projectAll(api.cloud.db, zone)
  const renamed = await read(id)
  assert.equal(attribute(renamed, 'name'), 'changed')
  assert.equal(textAt(renamed, 'Configuration', 'IpScopes', 'IpScope', 'Gateway'), '192.168.8.1')
  assert.equal((await put(bodyOf('changed', { gateway: '192.168.9.1' }))).status, 202)
  const { vms } = await api.cloud.addVms(1)
  await sql`insert into nic (org, vm, index, network, mode, "offset", address, mac, key)
    values (${api.eng.org}, ${vms[0]}, 0, ${id}, 'POOL', 10, '192.168.9.10', '52:54:00:00:00:01', 10)`.execute(
    api.cloud.db,
  )
  const moved = await put(bodyOf('changed', { gateway: '192.168.8.1' }))
  assert.equal(moved.status, 409)
  assert.match(moved.text, /VM vm-0 is on network changed/)
  const kept = { gateway: '192.168.9.1', more: '<Dns1>192.168.9.3</Dns1>' }
  assert.equal((await put(bodyOf('changed', kept))).status, 202)
  const dnsAfter = async (more: string) => {
    assert.equal((await put(bodyOf('changed', { ...kept, more }))).status, 202)
    const scope = ['Configuration', 'IpScopes', 'IpScope']
    const document = await read(id)
    return [textAt(document, ...scope, 'Dns1'), textAt(document, ...scope, 'DnsSuffix')]
  }
  assert.deepEqual(await dnsAfter('<DnsSuffix>a.example</DnsSuffix>'), ['192.168.9.3', 'a.example'])
  assert.deepEqual(await dnsAfter(''), ['192.168.9.3', 'a.example'])
  assert.deepEqual(await dnsAfter('<Dns1/><DnsSuffix/>'), [undefined, undefined])
  const { text: allocated } = await api.ask('GET', `/api/network/${id}/allocatedAddresses`, {
    token: api.eng.token,
  })
  const [address] = find(readXml(allocated), 'IpAddress')
  assert.equal(address && text(childrenByLocalName(address, 'IpAddress')[0]), '192.168.9.10')
  const used = await api.ask('DELETE', `/api/admin/network/${id}`, { token: admin })
  assert.equal(used.status, 409)
  await sql`delete from nic`.execute(api.cloud.db)
  const deleted = await api.ask('DELETE', `/api/admin/network/${id}`, { token: admin })
  assert.equal(deleted.status, 202, deleted.text)
  assert.equal((await api.ask('GET', `/api/network/${id}`, { token: admin })).status, 404)
  await projectAll(api.cloud.db, zone)
  const task = new URL(hrefOf(readXml(deleted.text))).pathname
  const { text: ended } = await api.ask('GET', task, { token: admin })
  assert.equal(attribute(readXml(ended), 'status'), 'success')
})

test('a vdc names its networks and those that other vdcs share, in both dialects', async () => {
  const second = await api.cloud.db
    .insertInto('vdc')
    .values({ org: api.eng.org, name: 'second' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const body = bodyOf('wide').replace(
    '</OrgVdcNetwork>',
    '<IsShared>true</IsShared></OrgVdcNetwork>',
  )
  const wide = await api.ask('POST', `/api/admin/vdc/${second.id}/networks`, { token: admin, body })
  assert.equal(wide.status, 201, wide.text)
  for (const { ask, dialect } of api.spoken) {
    const { text: document } = await ask('GET', `/api/vdc/${vdc}`, { token: api.eng.token })
    const named = find(readXml(document), 'AvailableNetworks', 'Network')
    assert.ok(named.some((each) => attribute(each, 'name') === 'wide'))
    assert.equal(attribute(named[0], 'type'), dialect.media('orgVdcNetwork'))
    const links = childrenByLocalName(readXml(document), 'Link')
    const type = dialect.media('orgVdcNetwork')
    assert.ok(!links.some((each) => attribute(each, 'type') === type), 'an author cannot add one')
    const own = await ask('GET', `/api/vdc/${vdc}`, { token: admin })
    const add = childrenByLocalName(readXml(own.text), 'Link').find(
      (each) => attribute(each, 'type') === type,
    )
    assert.equal(attribute(add, 'rel'), 'add')
  }
})

test('an organisation links the networks of all its vdcs, and queries know them by both names', async () => {
  for (const { ask, dialect } of api.spoken) {
    const { text: document } = await ask('GET', `/api/org/${api.eng.org}`, { token: api.eng.token })
    const links = childrenByLocalName(readXml(document), 'Link').filter(
      (each) => attribute(each, 'type') === dialect.media('orgNetwork'),
    )
    for (const each of links) {
      const path = new URL(hrefOf(each)).pathname
      const { text: shown } = await ask('GET', path, { token: api.eng.token })
      assert.equal(attribute(readXml(shown), 'name'), attribute(each, 'name'))
    }
    const linked = links.map((each) => attribute(each, 'name'))
    assert.ok(linked.includes('wide') && linked.includes('lab'), String(linked))
    for (const type of ['orgNetwork', 'orgVdcNetwork']) {
      const { text: found } = await ask(
        'GET',
        `/api/query?type=${type}&pageSize=128&sortAsc=name`,
        {
          token: api.eng.token,
        },
      )
      const records = find(readXml(found), `${type[0]?.toUpperCase()}${type.slice(1)}Record`)
      assert.deepEqual(
        records.map((each) => attribute(each, 'name')),
        linked,
      )
    }
  }
})

test('queries show networks with how many of their addresses are used', async () => {
  const { text: document } = await api.ask(
    'GET',
    '/api/query?type=orgVdcNetwork&format=records&filter=name==lab',
    { token: api.eng.token },
  )
  const [record] = find(readXml(document), 'OrgVdcNetworkRecord')
  const shown = (name: string) => attribute(record, name)
  assert.deepEqual(
    ['netmask', 'defaultGateway', 'linkType', 'usedIpCount', 'totalIpCount', 'isBusy'].map(shown),
    ['255.255.255.0', '192.168.20.1', '2', '0', '231', 'false'],
  )
})

test('the quota of networks refuses one more, and says so', async () => {
  const root = await api.enter(api.eng.org, 'system administrator')
  const before = await sql<{ count: number }>`select count(*)::integer as count from network
    where org = ${api.ops.org} and deleted_at is null`.execute(api.cloud.db)
  const most = before.rows[0]?.count ?? 0
  const quota = `<AdminOrg><Quota networks="${most}"/></AdminOrg>`
  const set = await api.ask('PUT', `/api/admin/org/${api.ops.org}`, { token: root, body: quota })
  assert.equal(set.status, 200, set.text)
  const one = await api.ask('POST', `/api/admin/vdc/${api.ops.ids['vdc']}/networks`, {
    token: root,
    body: bodyOf('more'),
  })
  assert.equal(one.status, 409)
  assert.match(one.text, new RegExp(`may have ${most} networks`))
})

test('a site without a network server makes no networks, and its vdcs offer none', async () => {
  await sql`update network_zone set opened = 0`.execute(api.cloud.db)
  const { status, text: document } = await make('early')
  assert.equal(status, 409)
  assert.match(document, /no network server runs/)
  const shown = await api.ask('GET', `/api/vdc/${vdc}`, { token: admin })
  assert.ok(!shown.text.includes('orgVdcNetwork+xml" href="https://cloud.example/api/admin'))
})
