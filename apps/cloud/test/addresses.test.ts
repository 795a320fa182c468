// Goal: a tenant finds the address of its guest where clients of the original API expect it, from the first report of its host on.
// Method: reports as followers write them, read over HTTP with a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { networkOf, type Card, type Vm, type VmId } from '@skerry/vm'
import { attribute, childrenByLocalName, readXml, text, type Element } from '@skerry/xml'

import { placedNowhere, recordSeen } from '../src/inventory/vms.ts'
import { vmAt } from './away-host.ts'
import { find, openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
  card = { network: networkOf(api.eng.org), mac, address: '10.84.0.77' }
})
after(() => api[Symbol.asyncDispose]())

async function get(path: string, version = '5.1', token = api.eng.token): Promise<Element> {
  const headers = { accept: `application/*+xml;version=${version}` }
  const { status, text: said } = await api.ask('GET', path, { token, headers })
  assert.equal(status, 200, said)
  return readXml(said)
}

const mac = '52:01:02:03:04:05'
let card: Card

let seq = 0
const report = (vm: VmId, more: Partial<Vm>) =>
  recordSeen(api.cloud.db, api.cloud.host, [
    { id: vm, session: '9', seq: (seq += 1), vm: { ...vmAt(vm, 'off'), ...more } },
  ])

async function connectionOf(vm: VmId, version?: string) {
  const path = `/api/vApp/vm-${vm}`
  const [section] = find(await get(path, version), 'NetworkConnectionSection')
  const [connection] = childrenByLocalName(section, 'NetworkConnection')
  if (!connection) return undefined
  const value = (name: string) => text(childrenByLocalName(connection, name)[0])
  return {
    network: attribute(connection, 'network'),
    address: value('IpAddress'),
    mac: value('MACAddress'),
    connected: value('IsConnected'),
  }
}

test('a Vm shows its network card and address as soon as its host has reported them, in both versions', async () => {
  const [vm] = (await api.cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  assert.equal(await connectionOf(vm), undefined)
  await report(vm, { card })
  for (const version of ['1.5', '5.1'])
    assert.deepEqual(await connectionOf(vm, version), { ...card, connected: 'false' })
  await report(vm, { card, power: 'on', boot: 'boot-1' })
  assert.equal((await connectionOf(vm))?.connected, 'true')

  // The VM is created again on another host, which has not reported its address yet.
  await api.cloud.db
    .updateTable('vm')
    .set({ ...placedNowhere, host: api.cloud.host })
    .where('id', '=', vm)
    .execute()
  assert.equal(await connectionOf(vm), undefined)
})

test('ipAddress and networkName are attributes of a VM’s record, of both kinds and versions, and filters', async () => {
  const vms = (await api.cloud.addVms(2, 'POWERED_OFF')).vms as [VmId, VmId]
  await report(vms[0], { card: { ...card, address: '10.84.0.78' } })
  await report(vms[1], {})
  const admin = await api.enter(api.eng.org, 'system administrator')
  const requested = [
    ['vm', '1.5', api.eng.token],
    ['vm', '5.1', api.eng.token],
    ['adminVM', '5.1', admin],
  ] as const
  for (const [type, version, principal] of requested) {
    const records = async (filter: string) =>
      childrenByLocalName(
        await get(`/api/query?type=${type}&filter=${filter}`, version, principal),
        type === 'vm' ? 'VMRecord' : 'AdminVMRecord',
      )
    const [found, ...more] = await records('ipAddress==10.84.0.78')
    assert.ok(found)
    assert.equal(more.length, 0)
    assert.deepEqual(
      [attribute(found, 'ipAddress'), attribute(found, 'networkName')],
      ['10.84.0.78', card.network],
    )
    assert.ok(attribute(found, 'href')?.endsWith(vms[0]))
    assert.equal((await records(`networkName==${card.network};ipAddress==10.84.0.*`)).length, 1)
    const other = (await records('ipAddress!=10.84.0.78')).find((each) =>
      attribute(each, 'href')?.endsWith(vms[1]),
    )
    assert.ok(other, 'a VM without an address differs from every value')
    assert.equal(attribute(other, 'ipAddress'), undefined)
  }
  const foreign = await get('/api/query?type=vm&filter=ipAddress==10.84.*', '5.1', api.ops.token)
  assert.equal(attribute(foreign, 'total'), '0')
})

test('an address outside of the organisation’s network is not stored, even if a host reports it', async () => {
  const [vm] = (await api.cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  await report(vm, { card })
  assert.equal((await connectionOf(vm))?.address, card.address)
  const lies: Partial<Card>[] = [
    ...['127.0.0.1', '10.83.40.7', '192.168.1.9', '10.84.0.1', '10.84.0.255', 'x'].map(
      (address) => ({ address }),
    ),
    ...[networkOf(api.ops.org), 'skerry', 'skerry-0123456789'].map((network) => ({ network })),
  ]
  for (const lie of lies) {
    await report(vm, { card: { ...card, ...lie } })
    assert.equal(await connectionOf(vm), undefined, JSON.stringify(lie))
    await report(vm, { card })
    assert.equal((await connectionOf(vm))?.address, card.address)
  }
})
