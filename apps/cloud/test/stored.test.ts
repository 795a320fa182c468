// Goal: everything that a tenant stores on a host counts in the quota and in the host's space before it is stored, and is released
// when it is freed. Method: each operation that takes space, over HTTP, with exactly the space it needs and with 1 MiB less;
// tasks are carried out by the functions that Temporal calls, at a simulated host.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { readUsage } from '../src/tenants/quotas.ts'
import { vmOf } from './cloud-database.ts'
import { asking, openStoredCloud, VM_MIB, type Outcome, type StoredCloud } from './stored-cloud.ts'
import { BASE, find, hrefOf, instantiate, read, type Answered } from './tenants-api.ts'

let cloud: StoredCloud
let system: string
let administrator: string
before(async () => {
  cloud = await openStoredCloud()
  const { api } = cloud
  system = await api.enter(api.ops.org, 'system administrator')
  administrator = await api.enter(api.eng.org, 'organisation administrator')
})
after(() => cloud[Symbol.asyncDispose]())
afterEach(async () => {
  await setQuota()
  await cloud.leave(1_000_000)
})

const orgPath = () => `/api/admin/org/${cloud.api.eng.org}`
const setQuota = async (storage?: number): Promise<void> => {
  const bound = storage === undefined ? '' : `storageMB="${storage}"`
  const body = `<AdminOrg><Quota ${bound}/></AdminOrg>`
  read(await cloud.api.ask('PUT', orgPath(), { token: system, body }))
}
const stored = async (): Promise<number> =>
  (await readUsage(cloud.api.cloud.db, cloud.api.eng.org)).storageMiB
const openTasks = async (): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from task
    where state in ('queued', 'running') and stores_mib > 0`.execute(cloud.api.cloud.db)
  return rows[0]?.n ?? 0
}

type Name = keyof typeof asking
interface TakesRoom {
  /** Operations on the VM, which is off, before the tested one. */
  readonly first: readonly Name[]
  readonly take: Name
  readonly mib: number
  readonly back: readonly Name[]
  /** The quota is checked when the task starts, because the size of the disk is determined there. */
  readonly late?: true
}

const takesRoom: Readonly<Record<string, TakesRoom>> = {
  'a snapshot with memory': {
    first: ['powerOn'],
    take: 'snapshot',
    mib: 2 * VM_MIB,
    back: ['removeSnapshots'],
  },
  'a snapshot of the disk alone': {
    first: ['powerOn'],
    take: 'diskSnapshot',
    mib: VM_MIB,
    back: ['removeSnapshots'],
  },
  'a snapshot of a VM that is off': {
    first: [],
    take: 'snapshot',
    mib: VM_MIB,
    back: ['removeSnapshots'],
  },
  'a snapshot, given back with its VM': {
    first: [],
    take: 'snapshot',
    mib: VM_MIB,
    back: [],
  },
  'suspended memory, given back by a start': {
    first: ['powerOn'],
    take: 'suspend',
    mib: VM_MIB,
    back: ['powerOn'],
  },
  'suspended memory, discarded': {
    first: ['powerOn'],
    take: 'suspend',
    mib: VM_MIB,
    back: ['discard'],
  },
  'suspended memory beside a snapshot': {
    first: ['powerOn', 'snapshot'],
    take: 'suspend',
    mib: VM_MIB,
    back: ['powerOn'],
  },
  'a larger disk': { first: [], take: 'grow', mib: VM_MIB, back: [], late: true },
}

const askAll = async (vm: VmId, names: readonly Name[]): Promise<void> => {
  for (const name of names) {
    const { state, text } = await cloud.ask(vm, asking[name])
    assert.equal(state, 'success', `${name}: ${text}`)
  }
}
const prepared = async ({ first }: TakesRoom): Promise<VmId> => {
  const vm = await cloud.makeVm()
  await askAll(vm, first)
  return vm
}
/** The orders of the host, without undos. */
const orders = () => cloud.host.done.filter((key) => !key.endsWith(':undo')).length
/** What counts in the quota, and at the host. */
const sums = async () => [await stored(), await cloud.placed()] as const

for (const [what, each] of Object.entries(takesRoom)) {
  const { take, mib, back, late } = each
  test(`${what}: rejected by quota if 1 MiB is missing, before anything is done`, async () => {
    const vm = await prepared(each)
    const [before, done] = [await stored(), orders()]
    await setQuota(before + mib - 1)
    const refused = await cloud.ask(vm, asking[take])
    if (late) assert.deepEqual([refused.state, refused.fault], ['error', 'conflict'])
    else {
      assert.equal(refused.status, 409)
      assert.match(refused.text, new RegExp(`may take ${mib} MiB .* ${mib - 1} are left`))
      assert.match(refused.text, /remove snapshots, discard suspended memory or delete VMs/)
    }
    assert.deepEqual([await stored(), await openTasks(), orders()], [before, 0, done])
    await setQuota(before + mib)
    assert.equal((await cloud.ask(vm, asking[take])).state, 'success')
    assert.equal(await stored(), before + mib)
  })

  test(`${what}: rejected with a message if its host lacks 1 MiB, before a request to the host`, async () => {
    const vm = await prepared(each)
    const [before, done] = [await cloud.placed(), orders()]
    await cloud.leave(mib - 1)
    const refused = await cloud.ask(vm, asking[take])
    assert.deepEqual([refused.status, refused.state, refused.fault], [202, 'error', 'no-room'])
    assert.match(refused.message ?? '', /host .*does not have/)
    assert.deepEqual([await cloud.placed(), orders()], [before, done])
    await cloud.leave(mib)
    assert.equal((await cloud.ask(vm, asking[take])).state, 'success')
    assert.equal(await cloud.placed(), before + mib)
  })

  test(`${what}: is released, in the quota and at the host`, async () => {
    const none = await sums()
    const vm = await prepared(each)
    const before = await sums()
    await askAll(vm, [take])
    assert.deepEqual(
      await sums(),
      before.map((sum) => sum + mib),
    )
    await askAll(vm, back)
    if (back.length > 0) assert.deepEqual(await sums(), before)
    const { status } = await vmOf(cloud.api.cloud.db, vm)
    await askAll(vm, status === 'POWERED_ON' ? ['powerOff', 'remove'] : ['remove'])
    assert.deepEqual(await sums(), none)
  })
}

/** Operations on a vDC or vApp that create VMs. */
const makes: Readonly<Record<string, (vapp: string, name: string) => readonly [string, string]>> = {
  instantiate: (_, name) => [
    `/api/vdc/${cloud.api.eng.ids['vdc']}/action/instantiateVAppTemplate`,
    instantiate(name, (cloud.api.eng.ids['template'] ?? '').slice(-36), false),
  ],
  recompose: (vapp, name) => [
    `/api/vApp/vapp-${vapp}/action/recomposeVApp`,
    `<RecomposeVAppParams><SourcedItem><Source href="${BASE}/api/vAppTemplate/${cloud.api.eng.ids['template']}"
      name="${name}"/></SourcedItem></RecomposeVAppParams>`,
  ],
  clone: (vapp, name) => [
    `/api/vdc/${cloud.api.eng.ids['vdc']}/action/cloneVApp`,
    `<CloneVAppParams name="${name}"><Source href="${BASE}/api/vApp/vapp-${vapp}"/></CloneVAppParams>`,
  ],
}

for (const [what, askedOf] of Object.entries(makes)) {
  test(`${what}: snapshots count against the quota for a new VM`, async () => {
    const vm = await cloud.makeVm()
    await askAll(vm, ['snapshot'])
    const { vapp } = await vmOf(cloud.api.cloud.db, vm)
    const before = await stored()
    const [path, body] = askedOf(vapp, `made-by-${what}`)
    const post = (): Promise<Answered> =>
      cloud.api.ask('POST', path, { token: cloud.api.eng.token, body })
    await setQuota(before + VM_MIB - 1)
    assert.equal((await post()).status, 409)
    assert.equal(await stored(), before)
    await askAll(vm, ['removeSnapshots'])
    assert.ok((await post()).status < 300)
  })
}

test('concurrent requests store exactly the quota, also while no task is carried out', async () => {
  const vms: VmId[] = []
  for (let n = 0; n < 6; n += 1) {
    const vm = await cloud.makeVm()
    await askAll(vm, ['powerOn'])
    vms.push(vm)
  }
  await setQuota((await stored()) + 2 * VM_MIB + 1)
  const { token } = cloud.api.eng
  const ask = (vm: VmId) =>
    cloud.api.ask('POST', `/api/vApp/vm-${vm}${asking.suspend.path}`, { token })
  const statuses = (await Promise.all(vms.map(ask))).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 202).length, 2)
  assert.equal(statuses.filter((status) => status === 409).length, 4)
  for (const vm of vms) await cloud.work(vm)
  const all = await Promise.all(vms.map((vm) => vmOf(cloud.api.cloud.db, vm)))
  assert.equal(all.filter(({ status }) => status === 'SUSPENDED').length, 2)
})

test('a snapshot that replaces another counts in addition to it until that one is gone', async () => {
  const vm = await cloud.makeVm()
  await askAll(vm, ['snapshot'])
  const before = await stored()
  await setQuota(before + VM_MIB - 1)
  assert.equal((await cloud.ask(vm, asking.snapshot)).status, 409)
  await setQuota(before + VM_MIB)
  assert.equal((await cloud.ask(vm, asking.snapshot)).state, 'success')
  assert.equal(await stored(), before)
})

test('a task that is canceled before its start releases its reservation', async () => {
  const vm = await cloud.makeVm()
  const before = await stored()
  const { token } = cloud.api.eng
  const requested = await cloud.api.ask('POST', `/api/vApp/vm-${vm}${asking.snapshot.path}`, {
    token,
  })
  assert.equal(await stored(), before + VM_MIB)
  const path = new URL(hrefOf(read(requested, 202))).pathname
  assert.equal((await cloud.api.ask('POST', `${path}/action/cancel`, { token })).status, 204)
  await cloud.work(vm)
  assert.equal(await stored(), before)
})

test('a snapshot with an unknown result counts until the next one is taken or all are removed', async () => {
  for (const way of ['snapshot', 'removeSnapshots'] as const) {
    const vm = await cloud.makeVm()
    const before = [await stored(), await cloud.placed()]
    const step = cloud.host.step.bind(cloud.host)
    cloud.host.step = async (order, goal) => {
      await step(order, goal)
      throw new Fault('interrupted', 'the host did not answer in time')
    }
    const lost = await cloud.ask(vm, asking.snapshot)
    cloud.host.step = step
    assert.equal(lost.state, 'error')
    const more = (by: number) => before.map((sum) => sum + by)
    assert.deepEqual([await stored(), await cloud.placed()], more(VM_MIB))
    await askAll(vm, [way])
    const after = [await stored(), await cloud.placed()]
    assert.deepEqual(after, more(way === 'snapshot' ? VM_MIB : 0))
  }
})

test('an organisation above its quota can still reduce its usage: stop, remove, discard, shrink and delete', async () => {
  const vm = await cloud.makeVm()
  await askAll(vm, ['powerOn', 'snapshot', 'suspend'])
  await setQuota(1)
  await askAll(vm, ['powerOn', 'powerOff'])
  const smaller = { ...asking.grow, body: asking.grow.body.replace('17', '4') }
  await sql`update vm set memory_mib = 256 where id = ${vm}`.execute(cloud.api.cloud.db)
  const shrunk: Outcome = await cloud.ask(vm, smaller)
  assert.equal(shrunk.state, 'success', shrunk.message ?? '')
  await askAll(vm, ['removeSnapshots', 'remove'])
})

test('storage usage is shown to administrators of the organisation, and in the snapshot’s size', async () => {
  const vm = await cloud.makeVm()
  await askAll(vm, ['powerOn', 'snapshot'])
  const { api } = cloud
  const shown = read(await api.ask('GET', orgPath(), { token: administrator }))
  assert.equal(Number(attribute(find(shown, 'Used')[0], 'storageMB')), await stored())
  const section = await api.ask('GET', `/api/vApp/vm-${vm}/snapshotSection`, {
    token: api.eng.token,
  })
  const [snapshot] = find(read(section), 'Snapshot')
  assert.equal(Number(attribute(snapshot, 'size')), 2 * VM_MIB * 1024 ** 2)
  const query = await api.ask('GET', '/api/query?type=orgVdc', { token: api.eng.token })
  const records = find(read(query), 'OrgVdcRecord')
  const sum = records.reduce((all, each) => all + Number(attribute(each, 'storageUsedMB')), 0)
  assert.equal(
    sum,
    await stored(),
    'of its vdcs together: nothing waits, and its templates take less than 1 MiB',
  )
})
