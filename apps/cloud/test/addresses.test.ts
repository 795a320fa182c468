// Goal: a tenant finds the address of its guest where clients of this family look for it, from the first report of its host on.
// Method: reports as followers write them, read over HTTP with a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Vm, VmId } from '@skerry/vm'
import { attribute, childrenByLocalName, readXml, text, type Element } from '@skerry/xml'

import { nowhere, recordSeen } from '../src/store/vms.ts'
import { vmAt } from './away-host.ts'
import { find, openDoor, type Door } from './tenants-door.ts'

let door: Door
before(async () => {
  door = await openDoor()
})
after(() => door[Symbol.asyncDispose]())

async function get(path: string, version = '5.1', token = door.eng.token): Promise<Element> {
  const headers = { accept: `application/*+xml;version=${version}` }
  const { status, text: said } = await door.ask('GET', path, { token, headers })
  assert.equal(status, 200, said)
  return readXml(said)
}

const card = { network: 'skerry-0123456789', mac: '52:01:02:03:04:05', address: '10.84.0.77' }

let seq = 0
const report = (vm: VmId, more: Partial<Vm>) =>
  recordSeen(door.cloud.db, door.cloud.host, [
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

test('a Vm shows its card and address as soon as its host has told, in both versions', async () => {
  const [vm] = (await door.cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  assert.equal(await connectionOf(vm), undefined)
  await report(vm, { card })
  for (const version of ['1.5', '5.1'])
    assert.deepEqual(await connectionOf(vm, version), { ...card, connected: 'false' })
  await report(vm, { card, power: 'on', boot: 'boot-1' })
  assert.equal((await connectionOf(vm))?.connected, 'true')

  // It is made anew on another host, which has yet to say what it gives it.
  await door.cloud.db
    .updateTable('vm')
    .set({ ...nowhere, host: door.cloud.host })
    .where('id', '=', vm)
    .execute()
  assert.equal(await connectionOf(vm), undefined)
})

test('ipAddress and networkName are attributes of a VM’s record, of both kinds and versions, and filters', async () => {
  const vms = (await door.cloud.addVms(2, 'POWERED_OFF')).vms as [VmId, VmId]
  await report(vms[0], { card: { ...card, address: '10.84.0.78' } })
  await report(vms[1], {})
  const admin = await door.enter(door.eng.org, 'system administrator')
  const asked = [
    ['vm', '1.5', door.eng.token],
    ['vm', '5.1', door.eng.token],
    ['adminVM', '5.1', admin],
  ] as const
  for (const [type, version, who] of asked) {
    const records = async (filter: string) =>
      childrenByLocalName(
        await get(`/api/query?type=${type}&filter=${filter}`, version, who),
        type === 'vm' ? 'VMRecord' : 'AdminVMRecord',
      )
    const [found, ...more] = await records('ipAddress==10.84.0.78')
    assert.ok(found)
    assert.equal(more.length, 0)
    assert.deepEqual(
      [attribute(found, 'ipAddress'), attribute(found, 'networkName')],
      ['10.84.0.78', 'skerry-0123456789'],
    )
    assert.ok(attribute(found, 'href')?.endsWith(vms[0]))
    assert.equal((await records('networkName==skerry-0123456789;ipAddress==10.84.0.*')).length, 1)
    const other = (await records('ipAddress!=10.84.0.78')).find((each) =>
      attribute(each, 'href')?.endsWith(vms[1]),
    )
    assert.ok(other, 'what has none is unlike every value')
    assert.equal(attribute(other, 'ipAddress'), undefined)
  }
  const foreign = await get('/api/query?type=vm&filter=ipAddress==10.84.*', '5.1', door.ops.token)
  assert.equal(attribute(foreign, 'total'), '0')
})
