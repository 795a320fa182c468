// Goal: organisations make, change and delete security groups by the API, in both dialects; the network server learns of every change
// of a group and of its VMs' labels, and of no other label. Method: the API over HTTP with a real PostgreSQL.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import { until } from '@skerry/lab'
import { attribute, childrenByLocalName, readXml, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { addNetworkRow } from './network-rows.ts'
import { openZone, projectAll } from './open-zone.ts'
import { find, hrefOf, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let zone: { readonly zone: string; readonly fence: string }
let admin: string
let list: string
let vm: string
let network: string

before(async () => {
  api = await openTenantsApi()
  const { org, ids } = api.eng
  admin = await api.enter(org, 'organisation administrator')
  list = `/api/admin/org/${org}/securityGroups`
  vm = (ids['entity'] ?? '').replace('vm-', '')
  network = await addNetworkRow(api.cloud.db, { org, vdc: ids['vdc'] ?? '', name: 'cards' })
  zone = await openZone(api.cloud.db, api.cloud.host)
  await sql`insert into nic (org, vm, index, network, mode, "offset", address, mac, key)
    values (${org}, ${vm}, 0, ${network}, 'POOL', 10, '192.168.20.10', '52:54:00:00:00:01', 10)`.execute(
    api.cloud.db,
  )
})
after(() => api[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`delete from security_group where name <> 'lab'`.execute(api.cloud.db)
  await sql`delete from metadata`.execute(api.cloud.db)
  await projectAll(api.cloud.db, zone)
})

const ROLE = '<Selector><Label><Key>role</Key><Value>web</Value></Label></Selector>'
const WEB = '<Rule><Protocol>tcp</Protocol><PortRange>80-81</PortRange></Rule>'
const bodyOf = (name: string, inside = `${ROLE}<Inbound>${WEB}</Inbound>`, more = ''): string =>
  `<SecurityGroup name="${name}"${more}>${inside}</SecurityGroup>`

const ask = (method: string, path: string, body?: string, token = admin): Promise<Answered> =>
  api.ask(method, path, { token, ...(body !== undefined && { body }) })
const make = (name: string, inside?: string) => ask('POST', list, bodyOf(name, inside))
const idOf = ({ status, text: said }: Answered): string => {
  assert.equal(status, 201, said)
  return hrefOf(readXml(said)).split('/').at(-1) ?? ''
}
const at = (id: string): string => `/api/admin/securityGroup/${id}`
const read = async (id: string): Promise<Element> => readXml((await ask('GET', at(id))).text)
const label = (key: string, value: string) =>
  ask(
    'PUT',
    `/api/vApp/vm-${vm}/metadata/${key}`,
    `<MetadataValue><Value>${value}</Value></MetadataValue>`,
  )
const unlabel = (key: string) => ask('DELETE', `/api/vApp/vm-${vm}/metadata/${key}`)

/** The networks that the network server has to project again. */
async function marked(): Promise<readonly string[]> {
  const rows = await api.cloud.db.selectFrom('network_change').select('unit').execute()
  await projectAll(api.cloud.db, zone)
  return rows.map(({ unit }) => unit)
}

test('a group is made, read, listed and queried in both dialects, and is ready when it is projected', async () => {
  const id = idOf(await make('web'))
  assert.equal(attribute(await read(id), 'status'), '0')
  assert.deepEqual(await marked(), [network])
  await label('role', 'web')
  await projectAll(api.cloud.db, zone)
  for (const { ask: asked, dialect } of api.spoken) {
    const token = await api.enter(api.eng.org, 'user')
    const { status, text: said } = await asked('GET', at(id), { token })
    assert.equal(status, 200, said)
    const group = readXml(said)
    assert.equal(attribute(group, 'status'), '1')
    assert.equal(attribute(group, 'type'), dialect.media('admin.securityGroup'))
    assert.equal(text(find(group, 'Selector', 'Label', 'Value')[0]), 'web')
    assert.equal(text(find(group, 'Inbound', 'Rule', 'PortRange')[0]), '80-81')
    assert.equal(find(group, 'Outbound').length, 0)
    assert.equal(attribute(find(group, 'Members')[0], 'total'), '1')
    assert.match(hrefOf(find(group, 'Members', 'VMReference')[0]), new RegExp(`vm-${vm}$`))
    assert.equal(childrenByLocalName(group, 'Link').length, 1, 'a user cannot change it')
    const groups = readXml((await asked('GET', list, { token })).text)
    const names = find(groups, 'SecurityGroupReference').map((each) => attribute(each, 'name'))
    assert.deepEqual(names, ['lab', 'web'])
    const path = '/api/query?type=securityGroup&filter=name==web'
    const [record] = find(
      readXml((await asked('GET', path, { token })).text),
      'SecurityGroupRecord',
    )
    assert.equal(attribute(record, 'selector'), 'role=web')
    assert.equal(attribute(record, 'numberOfVMs'), '1')
    assert.equal(attribute(record, 'isOutboundLimited'), 'false')
  }
})

test('a VM is in a group while it has all of its labels', async () => {
  const two =
    '<Selector><Label><Key>role</Key><Value>web</Value></Label><Label><Key>stage</Key><Value>live</Value></Label></Selector>'
  const id = idOf(await make('live', `${two}<Inbound/>`))
  const none = idOf(await make('nobody', '<Inbound/>'))
  const members = async (of: string) => attribute(find(await read(of), 'Members')[0], 'total')
  await label('role', 'web')
  assert.equal(await members(id), '0')
  await label('stage', 'live')
  assert.equal(await members(id), '1')
  await label('stage', 'test')
  assert.equal(await members(id), '0')
  assert.equal(await members(none), '0', 'a group without labels has no VMs')
})

test('a deleted VM is in no group, although its labels are kept for a while', async () => {
  const id = idOf(await make('web'))
  const { vapp, vms } = await api.cloud.addVms(1)
  await sql`insert into metadata (org, vapp, vm, key, type, value)
    values (${api.eng.org}, ${vapp}, ${vms[0]}, 'role', 'String', 'web')`.execute(api.cloud.db)
  const counted = async () => {
    const path = '/api/query?type=securityGroup&filter=name==web'
    const [record] = find(readXml((await ask('GET', path)).text), 'SecurityGroupRecord')
    return [
      attribute(record, 'numberOfVMs'),
      attribute(find(await read(id), 'Members')[0], 'total'),
    ]
  }
  assert.deepEqual(await counted(), ['1', '1'])
  await sql`update vm set deleted_at = clock_timestamp(), host = null where id = ${vms[0]}`.execute(
    api.cloud.db,
  )
  assert.deepEqual(await counted(), ['0', '0'])
})

test('labels of groups mark the networks of their VM; others mark nothing', async () => {
  await label('role', 'web')
  assert.deepEqual(await marked(), [], 'the organisation has no group with labels')
  await make('web')
  await marked()
  await label('colour', 'red')
  assert.deepEqual(await marked(), [])
  for (const change of [
    () => label('role', 'db'),
    () => unlabel('role'),
    () => label('role', 'web'),
  ]) {
    const { status, text: said } = await change()
    assert.equal(status, 202, said)
    assert.deepEqual(await marked(), [network])
  }
  const { rows } = await sql<{ groups: string }>`
    select count(*) as groups from security_group_member where vm = ${vm}`.execute(api.cloud.db)
  assert.equal(rows[0]?.groups, '1')
})

test('a label that is written while a group is being made is not missed', async () => {
  const making = Promise.withResolvers<void>()
  const made = api.cloud.db.transaction().execute(async (tx) => {
    const { id, org } = await tx
      .insertInto('security_group')
      .values({ org: api.eng.org, name: 'slow', limits_in: true, limits_out: false })
      .returning(['id', 'org'])
      .executeTakeFirstOrThrow()
    await tx
      .insertInto('security_group_label')
      .values({ org, security_group: id, key: 'role', value: 'web' })
      .execute()
    await making.promise
  })
  const locks = async (which: string) => {
    const { rows } = await sql`select from pg_locks where ${sql.raw(which)}`.execute(api.cloud.db)
    return rows.length > 0
  }
  await until('the group is being made', () =>
    locks("locktype = 'advisory' and mode = 'ExclusiveLock' and granted"),
  )
  const written = label('role', 'web')
  // For the row of the network, which the other transaction has marked.
  await until('the label waits', () => locks('not granted'))
  making.resolve()
  await made
  assert.equal((await written).status, 202)
  const { rows } = await sql<{ vm: string }>`select vm from security_group_member`.execute(
    api.cloud.db,
  )
  assert.deepEqual(rows, [{ vm }])
  assert.deepEqual(await marked(), [network])
})

test('what is no rule is refused, with what to write instead', async () => {
  const rule = (inside: string) => `${ROLE}<Inbound><Rule>${inside}</Rule></Inbound>`
  const labels = (count: number) =>
    `<Selector>${Array.from({ length: count }, (_, n) => `<Label><Key>k${n}</Key><Value/></Label>`).join('')}</Selector>`
  const wrong: readonly [string, RegExp][] = [
    [rule('<Protocol>sctp</Protocol>'), /one of tcp, udp, icmp, any/],
    [rule('<Protocol>icmp</Protocol><PortRange>80</PortRange>'), /only tcp and udp/],
    [rule('<Protocol>tcp</Protocol><PortRange>90-80</PortRange>'), /443 or 8000-8100/],
    [rule('<Protocol>tcp</Protocol><PortRange>70000</PortRange>'), /443 or 8000-8100/],
    [rule('<Protocol>any</Protocol><Cidr>10.0.0.0/33</Cidr>'), /10\.0\.0\.0\/8/],
    [rule('<Protocol>any</Protocol><Cidr>0.0.0.0/0 || 1</Cidr>'), /10\.0\.0\.0\/8/],
    [rule('<Protocol>any</Protocol><PeerGroup/>'), /href, the id or the name/],
    [rule('<Protocol>any</Protocol><PeerGroup name="none"/>'), /no security group none/],
    [rule('<Protocol>any</Protocol><Cidr>10.0.0.1</Cidr><PeerGroup name="lab"/>'), /not both/],
    [labels(17), /at most 16 labels/],
    [`${ROLE}<Inbound>${WEB.repeat(64)}</Inbound><Outbound>${WEB}</Outbound>`, /at most 64 rules/],
    [
      ROLE.replace('</Selector>', '<Label><Key>role</Key><Value>db</Value></Label></Selector>'),
      /twice/,
    ],
  ]
  for (const [inside, expected] of wrong) {
    const { status, text: said } = await make('wrong', inside)
    assert.equal(status, 400, said)
    assert.match(said, expected)
  }
  idOf(await make('most', `${labels(16)}<Inbound>${WEB.repeat(64)}</Inbound>`))
  assert.equal((await make('most')).status, 409)
})

test('a group of another organisation is no peer, and is not to be found', async () => {
  const foreign = api.ops.ids['securityGroup'] ?? ''
  const none = '01980000-0000-7000-8000-00000000abcd'
  const naming = async (id: string) => {
    const rule = `<Rule><Protocol>any</Protocol><PeerGroup href="https://cloud.example${at(id)}"/></Rule>`
    const { status, text: said } = await make('spy', `${ROLE}<Inbound>${rule}</Inbound>`)
    return [status, said.replaceAll(id, 'ID')]
  }
  assert.deepEqual(await naming(foreign), await naming(none))
  assert.equal((await naming(foreign))[0], 400)
  for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, at(foreign))).status, 404)
  assert.equal((await ask('PUT', at(foreign), bodyOf('mine'))).status, 404)
  const theirs = await api.enter(api.ops.org, 'organisation administrator')
  assert.equal((await ask('POST', list, bodyOf('theirs'), theirs)).status, 404)
})

test('a group that is a peer cannot be deleted, and the refusal names who uses it; its own peer it may be', async () => {
  const peer = (name: string) =>
    `<Inbound><Rule><Protocol>any</Protocol><PeerGroup name="${name}"/></Rule></Inbound>`
  const db = idOf(await make('db', `${ROLE}${peer('db')}`))
  const web = idOf(await make('web', `${ROLE}${peer('db')}`))
  const { status, text: said } = await ask('DELETE', at(db))
  assert.equal(status, 409, said)
  assert.match(said, /security group db is a peer in rules of web/)
  assert.equal((await ask('DELETE', at(web))).status, 204)
  await marked()
  assert.equal((await ask('DELETE', at(db))).status, 204)
  assert.deepEqual(await marked(), [network])
  assert.equal((await ask('GET', at(db))).status, 404)
})

test('a change replaces labels and rules; one of an older version is refused', async () => {
  const id = idOf(await make('web'))
  await marked()
  const changed = await ask('PUT', at(id), '<SecurityGroup version="1"><Outbound/></SecurityGroup>')
  assert.equal(changed.status, 200, changed.text)
  const group = readXml(changed.text)
  assert.deepEqual([attribute(group, 'name'), attribute(group, 'version')], ['web', '2'])
  assert.equal(find(group, 'Selector', 'Label').length, 0)
  assert.deepEqual([find(group, 'Inbound').length, find(group, 'Outbound').length], [0, 1])
  assert.deepEqual(await marked(), [network])
  const late = await ask('PUT', at(id), bodyOf('late', '', ' version="1"'))
  assert.equal(late.status, 409, late.text)
  assert.match(late.text, /it is version 2/)
})

test('an organisation has at most 64 groups', async () => {
  await sql`insert into security_group (org, name, limits_in, limits_out)
    select ${api.eng.org}, 'g' || n, true, false from generate_series(1, 63) n`.execute(
    api.cloud.db,
  )
  const { status, text: said } = await make('more')
  assert.equal(status, 409, said)
  assert.match(said, /at most 64 security groups/)
})

test('JSON is read and written as XML is', async () => {
  const body = JSON.stringify({
    name: 'json',
    selector: { label: [{ key: 'role', value: 'web' }] },
    inbound: { rule: [{ protocol: 'udp', portRange: '53', cidr: '10.1.2.3/8' }] },
    outbound: {},
  })
  const headers = {
    'content-type': 'application/vnd.skerry.cloud.admin.securityGroup+json',
    accept: 'application/*+json;version=5.1',
  }
  const { status, text: said } = await api.ask('POST', list, { token: admin, body, headers })
  assert.equal(status, 201, said)
  const group = JSON.parse(said) as { inbound: unknown; outbound: unknown }
  assert.deepEqual(group.inbound, {
    rule: [{ protocol: 'udp', portRange: '53', cidr: '10.0.0.0/8' }],
  })
  assert.deepEqual(group.outbound, { rule: [] })
})
