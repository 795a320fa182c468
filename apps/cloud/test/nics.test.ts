// Goal: VMs get cards on networks across hosts with addresses of their own, keep them, and give them back; a site without such networks is
// as it was. Method: the API over HTTP with a real PostgreSQL, and the specs that hosts would get.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute, childrenByLocalName, readXml, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { resolveNics, specNics, writeNics } from '../src/inventory/nics.ts'
import { restoreNics } from '../src/inventory/restore-nics.ts'
import { placeVm } from '../src/operations/place.ts'
import { addHost } from './cloud-database.ts'
import { addNetworkRow } from './network-rows.ts'
import { openZone } from './open-zone.ts'
import { find, instantiate, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let vdc: string
let template: string

before(async () => {
  api = await openTenantsApi()
  vdc = api.eng.ids['vdc'] ?? ''
  template = (api.eng.ids['template'] ?? '').slice(-36)
})
after(() => api[Symbol.asyncDispose]())

const make = (name: string, params = ''): Promise<Answered> =>
  api.ask('POST', `/api/vdc/${vdc}/action/instantiateVAppTemplate`, {
    token: api.eng.token,
    body: instantiate(name, template, false).replace(/(?=<Source)/, params),
  })

const vmIn = ({ status, text: document }: Answered): VmId => {
  assert.equal(status, 201, document)
  const [vm] = find(readXml(document), 'Children', 'Vm')
  return (attribute(vm, 'href') ?? '').slice(-36) as VmId
}

const connections = async (vm: VmId): Promise<readonly Element[]> => {
  const { text: document } = await api.ask('GET', `/api/vApp/vm-${vm}`, { token: api.eng.token })
  return find(readXml(document), 'NetworkConnectionSection', 'NetworkConnection')
}

const child = (node: Element | undefined, name: string): string | undefined =>
  node && text(childrenByLocalName(node, name)[0])

const section = (...cards: readonly string[]): string =>
  `<NetworkConnectionSection>${cards.join('')}</NetworkConnectionSection>`

const card = (network: string, index: number, more = ''): string =>
  `<NetworkConnection network="${network}"><NetworkConnectionIndex>${index}</NetworkConnectionIndex>${more}</NetworkConnection>`

const link = '<IsConnected>false</IsConnected>'

const put = (vm: VmId, body: string): Promise<Answered> =>
  api.ask('PUT', `/api/vApp/vm-${vm}/networkConnectionSection`, { token: api.eng.token, body })

test('without a host that is ready for networks, VMs get none, and a request that names one is refused', async () => {
  const vm = vmIn(await make('plain'))
  assert.equal(await specNics(api.cloud.db, { org: api.eng.org, id: vm }), undefined)
  assert.deepEqual(await connections(vm), [])
  const params = `<InstantiationParams>${section(card('lab', 0))}</InstantiationParams>`
  const refused = await make('early', params)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /no host is ready/)
})

test('a VM that names no network is on the default one, and its host gets the card', async () => {
  await openZone(api.cloud.db, api.cloud.host)
  const vm = vmIn(await make('usual'))
  const [nic] = (await specNics(api.cloud.db, { org: api.eng.org, id: vm })) ?? []
  assert.match(nic?.address ?? '', /^10\.84\.(\d|1[0-5])\.\d+$/)
  assert.match(nic?.mac ?? '', /^52:54:00(:[0-9a-f]{2}){3}$/)
  assert.deepEqual([nic?.index, nic?.mtu, nic?.connected], [0, 1442, true])
  const [shown, ...others] = await connections(vm)
  assert.equal(others.length, 0)
  assert.equal(attribute(shown, 'network'), 'default')
  assert.equal(child(shown, 'IpAddress'), nic?.address)
  assert.equal(child(shown, 'MACAddress'), nic?.mac)
  assert.equal(child(shown, 'IpAddressAllocationMode'), 'POOL')
  const { text: records } = await api.ask(
    'GET',
    `/api/query?type=vm&format=records&filter=ipAddress==${nic?.address}`,
    { token: api.eng.token },
  )
  const [record] = find(readXml(records), 'VMRecord')
  assert.equal(attribute(record, 'networkName'), 'default')
})

test('many VMs at once have different addresses, MAC addresses and ports', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, (_, at) => make(`many-${at}`)))
  made.forEach(vmIn)
  const { rows } = await sql<Record<string, number>>`
    select count(*)::integer as all, count(distinct address)::integer as addresses, count(distinct mac)::integer as macs,
      count(distinct nic.key)::integer as keys, max(network.next_port) - 10 as ports
    from nic join network on network.id = nic.network where network.name = 'default' and nic.org = ${api.eng.org}`.execute(
    api.cloud.db,
  )
  assert.deepEqual(rows[0], { all: 9, addresses: 9, macs: 9, keys: 9, ports: 9 })
})

test('networks that a request names are used, by connection or by configuration', async () => {
  const manual =
    '<IpAddress>192.168.20.7</IpAddress><IpAddressAllocationMode>MANUAL</IpAddressAllocationMode>'
  const cards = section(
    card('lab', 3, manual),
    card('default', 1, '<IsConnected>false</IsConnected>'),
  )
  const two = vmIn(await make('two', `<InstantiationParams>${cards}</InstantiationParams>`))
  const shown = await connections(two)
  assert.deepEqual(
    shown.map((each) => [
      attribute(each, 'network'),
      child(each, 'NetworkConnectionIndex'),
      child(each, 'IsConnected'),
    ]),
    [
      ['default', '1', 'false'],
      ['lab', '3', 'true'],
    ],
  )
  assert.equal(child(shown[1], 'IpAddress'), '192.168.20.7')
  const lab = api.eng.ids['network']
  const parent = `<Configuration><ParentNetwork href="https://cloud.example/api/network/${lab}"/></Configuration>`
  const config = `<NetworkConfigSection><NetworkConfig networkName="inner">${parent}</NetworkConfig></NetworkConfigSection>`
  const one = vmIn(await make('one', `<InstantiationParams>${config}</InstantiationParams>`))
  assert.equal(attribute((await connections(one))[0], 'network'), 'lab')
  const taken = await make(
    'taken',
    `<InstantiationParams>${section(card('lab', 0, manual))}</InstantiationParams>`,
  )
  assert.equal(taken.status, 409)
  assert.match(taken.text, /another VM has the address 192\.168\.20\.7/)
  const missing = await make(
    'missing',
    `<InstantiationParams>${section(card('none', 0))}</InstantiationParams>`,
  )
  assert.equal(missing.status, 400)
  assert.match(missing.text, /network none not found/)
})

test('a SourcedItem may name the cards of the VM of the template', async () => {
  const manual =
    '<IpAddress>192.168.20.8</IpAddress><IpAddressAllocationMode>MANUAL</IpAddressAllocationMode>'
  const config = '<NetworkConfigSection><NetworkConfig networkName="lab"/></NetworkConfigSection>'
  const params = (inside: string) => `<InstantiationParams>${inside}</InstantiationParams>`
  const item = `<SourcedItem><Source href=""/>${params(section(card('lab', 0, manual)))}</SourcedItem>`
  const made = await make('sourced', params(config) + item)
  const [shown, ...others] = await connections(vmIn(made))
  assert.equal(others.length, 0)
  assert.deepEqual(
    [attribute(shown, 'network'), child(shown, 'IpAddress')],
    ['lab', '192.168.20.8'],
  )
})

test('a network of another organisation is as unknown as a missing one', async () => {
  const others = api.ops.ids['network'] ?? ''
  const answers = await Promise.all(
    [others, '01980000-0000-7000-8000-00000000abcd'].map(async (id) => {
      const { status, text: document } = await make(
        `foreign-${id.slice(-4)}`,
        `<InstantiationParams>${section(card(id, 0))}</InstantiationParams>`,
      )
      return [status, document.replaceAll(id, 'ID')]
    }),
  )
  assert.deepEqual(answers[0], answers[1])
})

test('a full network refuses another card; a deleted VM gives its address back, but not at once', async () => {
  const { db } = api.cloud
  const small = await addNetworkRow(db, { org: api.eng.org, vdc, name: 'small' })
  await sql`update network_range set low = 20, high = 21 where network = ${small}`.execute(db)
  const params = `<InstantiationParams>${section(card('small', 0))}</InstantiationParams>`
  const first = vmIn(await make('small-1', params))
  vmIn(await make('small-2', params))
  const full = await make('small-3', params)
  assert.match(full.text, /network small has no free address/)
  await sql`update vm set deleted_at = clock_timestamp() where id = ${first}`.execute(db)
  assert.match((await make('small-3', params)).text, /network small has no free address/)
  await sql`update released_address set released_at = released_at - interval '11 min'`.execute(db)
  vmIn(await make('small-3', params))
})

test('cards change while the VM is off, keep what stays, and only their links while it is on', async () => {
  const { db } = api.cloud
  const { vms } = await api.cloud.addVms(1)
  const [vm] = vms
  assert.ok(vm)
  await sql`update vm set vdc = ${vdc} where id = ${vm}`.execute(db)
  const lab = api.eng.ids['network'] ?? ''
  const wanted = { index: 0, network: lab, mode: 'POOL' as const, connected: true }
  const write = (...nics: (typeof wanted)[]) =>
    db.transaction().execute((tx) => writeNics(tx, api.eng.org, new Map([[vm, nics]])))
  await write(wanted)
  const [made] = (await specNics(db, { org: api.eng.org, id: vm })) ?? []
  await write({ ...wanted, connected: false }, { ...wanted, index: 1 })
  const [kept, added] = (await specNics(db, { org: api.eng.org, id: vm })) ?? []
  assert.deepEqual(kept, { ...made, connected: false })
  assert.notEqual(added?.address, kept?.address)
  await write(wanted)
  assert.deepEqual(await specNics(db, { org: api.eng.org, id: vm }), [made])
  assert.equal((await put(vm, section(card('lab', 0), card('default', 1)))).status, 202)
  const chosen = await put(
    vm,
    section(card('lab', 0, '<MACAddress>52:54:00:aa:bb:cc</MACAddress>')),
  )
  assert.match(chosen.text, /MACAddress of card 0 cannot be chosen/)
  const same = card('lab', 0, `<MACAddress>${made?.mac.toUpperCase()}</MACAddress>`)
  assert.equal((await put(vm, section(same))).status, 202)
  assert.match((await put(vm, section())).text, /from 1 to 10 NetworkConnections/)
  await sql`update vm set status = 'POWERED_ON', queue_target = null where id = ${vm}`.execute(db)
  assert.equal((await put(vm, section(card('lab', 0, link)))).status, 202)
  const moved = await put(vm, section(card('default', 0)))
  assert.equal(moved.status, 409)
  assert.match(moved.text, /only IsConnected of its cards can change/)
})

test('cards cannot be on networks while the host of the VM is not ready for them; their links can change', async () => {
  const { db } = api.cloud
  const { vms } = await api.cloud.addVms(1)
  const [vm] = vms
  assert.ok(vm)
  await sql`update vm set vdc = ${vdc} where id = ${vm}`.execute(db)
  for (const overlay of ['none', 'failing'] as const) {
    await db.updateTable('host').set({ overlay }).where('id', '=', api.cloud.host).execute()
    const refused = await put(vm, section(card('lab', 0)))
    assert.equal(refused.status, 409)
    assert.match(refused.text, /the host of VM vm-0 is not ready for networks/)
  }
  await db.updateTable('host').set({ overlay: 'ready' }).where('id', '=', api.cloud.host).execute()
  assert.equal((await put(vm, section(card('lab', 0)))).status, 202)
  const lab = api.eng.ids['network'] ?? ''
  const nics = [{ index: 0, network: lab, mode: 'POOL' as const, connected: true }]
  await db.transaction().execute((tx) => writeNics(tx, api.eng.org, new Map([[vm, nics]])))
  await db
    .updateTable('host')
    .set({ overlay: 'failing' })
    .where('id', '=', api.cloud.host)
    .execute()
  assert.equal((await put(vm, section(card('lab', 0, link)))).status, 202)
  await db.updateTable('host').set({ overlay: 'ready' }).where('id', '=', api.cloud.host).execute()
})

test('a query shows no address for a card that has none, whatever the host reported before', async () => {
  const { db } = api.cloud
  const none = '<IpAddressAllocationMode>NONE</IpAddressAllocationMode>'
  const params = `<InstantiationParams>${section(card('lab', 0, none))}</InstantiationParams>`
  const vm = vmIn(await make('silent', params))
  await sql`update vm set network = 'skerry-1', address = '10.1.1.9' where id = ${vm}`.execute(db)
  const { text: records } = await api.ask(
    'GET',
    '/api/query?type=vm&format=records&filter=containerName==silent',
    { token: api.eng.token },
  )
  const [record] = find(readXml(records), 'VMRecord')
  assert.deepEqual(
    [attribute(record, 'networkName'), attribute(record, 'ipAddress')],
    ['lab', undefined],
  )
})

test('of networks with one name, a card stays on its own, then the one of its vdc is meant', async () => {
  const { db } = api.cloud
  const { org } = api.eng
  const second = await db
    .insertInto('vdc')
    .values({ org, name: 'a second' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const theirs = await addNetworkRow(db, { org, vdc: second.id, name: 'twin' })
  const ours = await addNetworkRow(db, { org, vdc, name: 'twin' })
  const resolved = async (network: string, now?: string) => {
    const wanted = { index: 0, network, mode: 'POOL' as const, connected: true }
    const card = { ...wanted, offset: 9, address: '192.168.20.9', mac: '', key: 10 }
    const before = now === undefined ? [] : [{ ...card, network: now }]
    const [found] = await api.cloud.as(api.cloud.principal, (tx) =>
      resolveNics(tx, { org, id: vdc }, [wanted], before),
    )
    return found?.network
  }
  assert.equal(await resolved('twin'), ours)
  assert.equal(await resolved('twin', theirs), theirs)
  assert.equal(await resolved(theirs, ours), theirs)
  assert.equal(await resolved('lab', theirs), api.eng.ids['network'])
})

test('a clone has a card on each network of its source, with an address of its own', async () => {
  const { db } = api.cloud
  const source = vmIn(
    await make(
      'source',
      `<InstantiationParams>${section(card('lab', 0), card('default', 1))}</InstantiationParams>`,
    ),
  )
  await sql`update task set state = 'success' where vm = ${source}`.execute(db)
  await sql`update vm set status = 'POWERED_OFF', queue_target = null, host = ${api.cloud.host} where id = ${source}`.execute(
    db,
  )
  const { rows } = await sql<{ vapp: string }>`select vapp from vm where id = ${source}`.execute(db)
  const cloned = await api.ask('POST', `/api/vdc/${vdc}/action/cloneVApp`, {
    token: api.eng.token,
    body: `<CloneVAppParams name="copy"><Source href="/api/vApp/vapp-${rows[0]?.vapp}"/></CloneVAppParams>`,
  })
  const copy = vmIn(cloned)
  const [ours, theirs] = [await connections(copy), await connections(source)]
  assert.deepEqual(
    ours.map((each) => attribute(each, 'network')),
    ['lab', 'default'],
  )
  for (const [at, each] of ours.entries()) {
    assert.notEqual(child(each, 'IpAddress'), child(theirs[at], 'IpAddress'))
    assert.notEqual(child(each, 'MACAddress'), child(theirs[at], 'MACAddress'))
  }
})

test('a VM that a restore lost gets its cards back from the spec of its host, with another address only if that is taken', async () => {
  const { db } = api.cloud
  const { org } = api.eng
  const id = vmIn(await make('lost'))
  const lost = (await specNics(db, { org, id })) ?? []
  const restore = () => db.transaction().execute((tx) => restoreNics(tx, { org, id }, lost))
  const forget = async () => {
    await sql`delete from nic where vm = ${id}`.execute(db)
    await sql`delete from released_address`.execute(db)
  }
  await forget()
  await restore()
  assert.deepEqual(await specNics(db, { org, id }), lost)
  await restore()
  assert.deepEqual(await specNics(db, { org, id }), lost, 'repeated, it changes nothing')
  await forget()
  const [nic] = lost
  const manual = `<IpAddress>${nic?.address}</IpAddress><IpAddressAllocationMode>MANUAL</IpAddressAllocationMode>`
  const cards = section(card('default', 0, manual))
  vmIn(await make('heir', `<InstantiationParams>${cards}</InstantiationParams>`))
  await restore()
  const [moved] = (await specNics(db, { org, id })) ?? []
  assert.deepEqual({ ...moved, address: '' }, { ...nic, address: '' })
  assert.notEqual(moved?.address, nic?.address)
  const strange = [{ ...lost[0], network: api.ops.ids['network'] ?? '' }] as typeof lost
  await forget()
  await db.transaction().execute((tx) => restoreNics(tx, { org, id }, strange))
  assert.equal(await specNics(db, { org, id }), undefined, 'a network of another organisation')
})

test('a VM with cards is placed on a host that is ready for networks, one without anywhere', async () => {
  const { db } = api.cloud
  const ready = await addHost(db, 'ready')
  await sql`update host set overlay = 'none' where id <> ${ready}`.execute(db)
  await sql`update host set overlay = 'ready', uplinks = '{out}', placed_memory_mib = 60000 where id = ${ready}`.execute(
    db,
  )
  const place = async (vm: VmId) => {
    await sql`update vm set fence = 7 where id = ${vm}`.execute(db)
    await placeVm(db, { vm, fencingToken: '7', task: api.eng.ids['task'] as never })
    const { rows } = await sql<{ host: string }>`select host from vm where id = ${vm}`.execute(db)
    return rows[0]?.host
  }
  const networked = vmIn(await make('networked'))
  assert.equal(await place(networked), ready)
  // On a direct network: only where its uplink is.
  const { rows } = await sql<{ id: string }>`with external as (
      insert into external_network (zone, name, kind, uplink, gateway, prefix)
        select id, 'site', 'provider', 'site', '203.0.113.1', 24 from network_zone returning id)
    insert into network (org, vdc, name, kind, external, key)
      select vdc.org, vdc.id, 'direct', 'direct', external.id, 901 from external, vdc where vdc.org = ${api.eng.org}
      returning id`.execute(db)
  const direct = vmIn(await make('direct'))
  await sql`update nic set network = ${rows[0]?.id}, mode = 'NONE', "offset" = null, address = null where vm = ${direct}`.execute(
    db,
  )
  await assert.rejects(place(direct), { kind: 'no-room' })
  await sql`update host set uplinks = '{out,site}' where id = ${ready}`.execute(db)
  assert.equal(await place(direct), ready)
  await sql`update host set overlay = 'none'`.execute(db)
  const plain = vmIn(await make('plain-2'))
  assert.equal(await place(plain), api.cloud.host)
  const without = vmIn(await make('plain-3'))
  await sql`insert into nic (org, vm, index, network, mode, mac, key)
    values (${api.eng.org}, ${without}, 0, ${api.eng.ids['network']}, 'NONE', '52:54:00:00:00:09', 900)`.execute(
    db,
  )
  await assert.rejects(place(without), { kind: 'no-room' })
})
