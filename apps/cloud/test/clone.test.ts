// Goal: a vApp is copied while its VMs are off; operations before and after the copy are queued in order, and nothing is left over
// if a copy fails.
// Method: documents over HTTP, tasks executed by the same functions that Temporal calls, two simulated hosts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { simulatedHost, type SimulatedHost } from '@skerry/lab/simulated-host'
import type { HostId, VmId } from '@skerry/vm'
import { attribute, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { CutHost, followed, type Followed } from './away-host.ts'
import { addHost, seal, vmOf } from './cloud-database.ts'
import { BASE, find, hrefOf, openTenantsApi, pathOf, read, type TenantsApi } from './tenants-api.ts'
import { workQueue } from './work-queue.ts'

let api: TenantsApi
const hosts = new Map<HostId, SimulatedHost>()
const following: Followed[] = []
before(async () => {
  api = await openTenantsApi()
  const { db, host: first } = api.cloud
  for (const id of [first, await addHost(db, 'host-2')]) {
    const host = simulatedHost()
    hosts.set(id, host)
    following.push(await followed(db, id, new CutHost(host)))
  }
})
after(async () => {
  for (const each of following) await each[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const post = (path: string, body = '') => api.ask('POST', path, { token: api.eng.token, body })
const clone = (name: string, vapp: string, more = '') =>
  post(
    `/api/vdc/${api.eng.ids['vdc']}/action/cloneVApp`,
    `<CloneVAppParams name="${name}"><Source href="${BASE}/api/vApp/${vapp}"/>${more}</CloneVAppParams>`,
  )
const vmsIn = (vapp: Element): VmId[] =>
  find(vapp, 'Children', 'Vm').map((each) => hrefOf(each).slice(-36) as VmId)
const atHost = async (vm: VmId) => {
  const { host } = await vmOf(api.cloud.db, vm)
  return host === null ? undefined : hosts.get(host)?.find(vm)
}

/** Executes every task in the VM's queue that can run now. */
async function work(vm: VmId): Promise<void> {
  const at = (id: HostId) => hosts.get(id) as SimulatedHost
  await workQueue({ db: api.cloud.db, hosts: at, seal }, vm)
}

const USER =
  '<GuestCustomizationSection><ComputerName>told</ComputerName></GuestCustomizationSection>'
let count = 0
/** A vApp of two created VMs that are off; one of them has cloud-init data. */
async function madeVapp(): Promise<{ id: string; vms: readonly [VmId, VmId] }> {
  const item = (name: string, more = '') =>
    `<SourcedItem><Source href="${BASE}/api/vAppTemplate/${api.eng.ids['template']}" name="${name}"/>${more}</SourcedItem>`
  const made = read(
    await post(
      `/api/vdc/${api.eng.ids['vdc']}/action/composeVApp`,
      `<ComposeVAppParams name="made-${(count += 1)}">${item('a', USER)}${item('b')}</ComposeVAppParams>`,
    ),
    201,
  )
  const vms = vmsIn(made) as [VmId, VmId]
  for (const vm of vms) await work(vm)
  return { id: hrefOf(made).split('/').at(-1) ?? '', vms }
}
const tasksOf = async (vm: VmId) =>
  (
    await api.cloud.db
      .selectFrom('task')
      .select(['operation', 'state'])
      .where('vm', '=', vm)
      .orderBy('position')
      .execute()
  ).map(({ operation, state }) => `${operation} ${state}`)

test('a vApp is copied, each VM on the host of its source', async () => {
  const { id, vms } = await madeVapp()
  const answer = await clone('copy', id, '<IsSourceDelete>false</IsSourceDelete>')
  const made = read(answer, 201)
  assert.equal(answer.headers['location'], hrefOf(made))
  assert.deepEqual([attribute(made, 'name'), attribute(made, 'status')], ['copy', '0'])
  const [task] = find(made, 'Tasks', 'Task')
  assert.equal(attribute(task, 'operationName'), 'vdcCopyVapp')
  const copies = vmsIn(made)
  assert.equal(copies.length, 2)
  for (const vm of [...copies, ...vms]) await work(vm)
  for (const copy of copies) {
    const row = await vmOf(api.cloud.db, copy)
    const source = await vmOf(api.cloud.db, row.source as VmId)
    assert.deepEqual(
      [row.host, row.status, row.name, row.cpus, row.disk_mib],
      [source.host, 'POWERED_OFF', source.name, source.cpus, source.disk_mib],
    )
    assert.notEqual(row.incarnation, source.incarnation)
    assert.equal((await atHost(copy))?.incarnation, row.incarnation)
    const seed = hosts.get(row.host as HostId)?.seedOf(copy)
    assert.deepEqual(seed, row.name === 'a' ? { hostname: 'told' } : undefined)
  }
  const ended = await api.ask('GET', pathOf(hrefOf(task)), { token: api.eng.token })
  assert.equal(attribute(read(ended), 'status'), 'success')
  for (const vm of vms) assert.deepEqual((await tasksOf(vm)).slice(1), ['hold success'])
})

test('a VM that is not off is not copied: 409 names the VM', async () => {
  const { id, vms } = await madeVapp()
  await post(`/api/vApp/vm-${vms[1]}/power/action/powerOn`)
  await work(vms[1])
  const { name } = await vmOf(api.cloud.db, vms[1])
  const refused = await clone('never', id)
  assert.equal(refused.status, 409)
  assert.match(refused.text, new RegExp(`VM ${name} is POWERED_ON`))
  const row = await api.cloud.db.selectFrom('vapp').where('name', '=', 'never').execute()
  assert.deepEqual(row, [])
  assert.equal((await clone('never', id, '<IsSourceDelete>true</IsSourceDelete>')).status, 400)
  const [theirs, nobodys] = await Promise.all([
    clone('never', api.ops.vapp),
    clone('never', `vapp-${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`),
  ])
  assert.deepEqual([theirs.status, theirs.text], [nobodys.status, nobodys.text])
  assert.equal(theirs.status, 400)
  assert.equal((await clone('made-1', id)).status, 409, 'its name is in use')
})

test('earlier operations on the source run first, later ones wait for the copy', async () => {
  const { id, vms } = await madeVapp()
  const [first, second] = vms
  await post(`/api/vApp/vm-${first}/power/action/powerOn`)
  await work(first)
  await post(`/api/vApp/vm-${first}/power/action/powerOff`)
  const copies = vmsIn(read(await clone('waits', id), 201))
  const bySource = new Map<VmId, VmId>()
  for (const copy of copies) {
    bySource.set((await vmOf(api.cloud.db, copy)).source as VmId, copy)
  }
  const copy = bySource.get(first) as VmId
  await work(copy)
  assert.deepEqual(await tasksOf(copy), ['clone queued'], 'its source must be stopped first')

  await post(`/api/vApp/vm-${first}/power/action/powerOn`)
  const deleted = await api.ask('DELETE', `/api/vApp/vm-${second}`, { token: api.eng.token })
  assert.equal(deleted.status, 202)
  for (const vm of vms) await work(vm)
  assert.equal((await atHost(first))?.power, 'off')
  assert.deepEqual((await tasksOf(first)).slice(-3), [
    'powerOff success',
    'hold queued',
    'powerOn queued',
  ])
  assert.ok(await atHost(second), 'it is not deleted before the copy')
  for (const each of copies) await work(each)
  for (const each of copies) assert.equal((await atHost(each))?.power, 'off')
  for (const vm of vms) await work(vm)
  assert.equal((await atHost(first))?.power, 'on')
  assert.equal(await atHost(second), undefined)
})

test('a source that is actually on or gone at its host: the copy fails, and nothing is left over', async () => {
  const { id, vms } = await madeVapp()
  const [first, second] = vms
  const copies = vmsIn(read(await clone('fails', id), 201))
  const hostOf = async (vm: VmId) =>
    hosts.get((await vmOf(api.cloud.db, vm)).host as HostId) as SimulatedHost
  ;(await hostOf(first)).changePower(first, 'on')
  ;(await hostOf(second)).vanish(second)
  for (const copy of copies) await work(copy)
  for (const copy of copies) {
    const row = await vmOf(api.cloud.db, copy)
    assert.deepEqual([row.status, row.host], ['FAILED_CREATION', null])
    assert.deepEqual(await tasksOf(copy), ['clone error'])
    for (const host of hosts.values()) assert.equal(host.find(copy), undefined)
  }
  for (const vm of vms) await work(vm)
  for (const vm of vms) assert.deepEqual((await tasksOf(vm)).slice(1), ['hold success'])
  const parent = await api.cloud.db
    .selectFrom('task')
    .select('state')
    .where('operation', '=', 'cloneVApp')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  assert.equal(parent.state, 'error')
})

test('a copy of a VM that was never created ends, and so does a canceled copy whose host is unreachable', async () => {
  const unmade = api.eng.vapp
  const copies = vmsIn(read(await clone('of nothing', unmade), 201))
  const [copy] = copies as [VmId]
  const [source] = [(await vmOf(api.cloud.db, copy)).source as VmId]
  await work(copy)
  assert.deepEqual(await tasksOf(copy), ['clone queued'])
  const { db } = api.cloud
  const [create] = await db.selectFrom('task').select('id').where('vm', '=', source).execute()
  assert.equal((await post(`/api/task/${create?.id}/action/cancel`)).status, 204)
  await work(copy)
  assert.deepEqual(await tasksOf(copy), ['clone error'])
  assert.equal((await vmOf(db, copy)).status, 'FAILED_CREATION')

  const { id } = await madeVapp()
  const made = read(await clone('waits for a host', id), 201)
  const [task] = find(made, 'Tasks', 'Task')
  for (const each of following) await each.goAway()
  for (const vm of vmsIn(made)) await work(vm)
  for (const vm of vmsIn(made)) assert.deepEqual(await tasksOf(vm), ['clone queued'])
  assert.equal((await post(`${pathOf(hrefOf(task))}/action/cancel`)).status, 204)
  for (const vm of vmsIn(made)) assert.deepEqual(await tasksOf(vm), ['clone canceled'])
  for (const each of following) await each.comeBack()
})

test('copies count against the quota', async () => {
  const { id } = await madeVapp()
  const { db } = api.cloud
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer from vm where org = ${api.eng.org} and deleted_at is null`.execute(db)
  const most = (rows[0]?.count ?? 0) + 1
  await db.insertInto('quota').values({ org: api.eng.org, vms: most }).execute()
  assert.equal((await clone('too many', id)).status, 409)
})
