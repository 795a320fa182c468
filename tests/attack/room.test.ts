// Threat: a tenant fills a host with data other than disks, that is snapshots and memory of suspended guests, until every guest
// there stops. Method: a cell's API over HTTP with a real PostgreSQL and a simulated host. The tenant requests all of it at once,
// repeatedly; the host adds up the maximum size of everything it was asked to store.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Goal } from '@skerry/host-api'
import type { VmId } from '@skerry/vm'

import {
  asking,
  openStoredCloud,
  VM_MIB,
  type StoredCloud,
} from '../../apps/cloud/test/stored-cloud.ts'
import { read } from '../../apps/cloud/test/tenants-api.ts'

const VMS = 6
const ROUNDS = 2
/** Space for a snapshot with memory and a suspended guest, of six that request both. */
const SPARE_MIB = 3 * VM_MIB

/** The maximum that the host may have to store, in MiB. */
interface Kept {
  now(): number
  /** The highest value since `begin`. */
  most(): number
  begin(): void
}

function watchHost({ host }: StoredCloud): Kept {
  const kept = new Map<VmId, { disk: number; snapshot: number; memory: number }>()
  const step = host.step.bind(host)
  let [sum, most] = [0, 0]
  host.step = async (order, goal: Goal, ...more) => {
    const report = await step(order, goal, ...more)
    const now = kept.get(order.vm) ?? { disk: 0, snapshot: 0, memory: 0 }
    const power = report.vm?.power
    if (goal.goal === 'snapshotted') now.snapshot = VM_MIB + (power === 'off' ? 0 : VM_MIB)
    if (goal.goal === 'noSnapshots') now.snapshot = 0
    kept.set(order.vm, { ...now, disk: VM_MIB, memory: power === 'suspended' ? VM_MIB : 0 })
    if (goal.goal === 'gone') kept.delete(order.vm)
    sum = [...kept.values()].reduce(
      (all, { disk, snapshot, memory }) => all + disk + snapshot + memory,
      0,
    )
    most = Math.max(most, sum)
    return report
  }
  return { now: () => sum, most: () => most, begin: () => (most = sum) }
}

/** Every storing operation, of all VMs at once, and then power on again; returns the number of rejections. */
async function storm(cloud: StoredCloud, vms: readonly VmId[]): Promise<number> {
  const { token } = cloud.api.eng
  const names = ['snapshot', 'suspend', 'powerOn', 'snapshot', 'suspend'] as const
  const answers = await Promise.all(
    vms.flatMap((vm) =>
      names.map((name) =>
        cloud.api.ask('POST', `/api/vApp/vm-${vm}${asking[name].path}`, { token }),
      ),
    ),
  )
  for (const vm of vms) await cloud.work(vm)
  return answers.filter(({ status }) => status === 409).length
}

let cloud: StoredCloud
let kept: Kept
let other: VmId
const vms: VmId[] = []
before(async () => {
  cloud = await openStoredCloud()
  kept = watchHost(cloud)
  const { eng, ops } = cloud.api
  for (const tenant of [ops, ...Array.from({ length: VMS }, () => eng)]) {
    const vm = await cloud.makeVm(tenant)
    assert.equal((await cloud.ask(vm, asking.powerOn, tenant)).state, 'success')
    vms.push(vm)
  }
  other = vms.shift() as VmId
})
after(() => cloud[Symbol.asyncDispose]())

const setQuota = async (attributes: string): Promise<void> => {
  const token = await cloud.api.enter(cloud.api.ops.org, 'system administrator')
  const body = `<AdminOrg><Quota ${attributes}/></AdminOrg>`
  read(await cloud.api.ask('PUT', `/api/admin/org/${cloud.api.eng.org}`, { token, body }))
}

test('concurrent snapshots and suspends never exceed the quota', async () => {
  const quota = kept.now() - VM_MIB + SPARE_MIB
  await setQuota(`storageMB="${quota}"`)
  const refused = await storm(cloud, vms)
  assert.ok(refused > 0)
  assert.ok(kept.most() - VM_MIB <= quota, `the quota is ${quota} MiB, and it uses ${kept.most()}`)
  await setQuota('')
})

test('without a quota they never exceed the host, and the VM of another tenant continues', async () => {
  for (const vm of vms) {
    for (const name of ['powerOn', 'removeSnapshots'] as const) await cloud.ask(vm, asking[name])
  }
  assert.equal(kept.now(), (VMS + 1) * VM_MIB)
  kept.begin()
  const size = kept.now() + SPARE_MIB
  await cloud.leave(SPARE_MIB)
  for (let round = 0; round < ROUNDS; round += 1) await storm(cloud, vms)
  assert.ok(kept.most() <= size, `the host has ${size} MiB and may have to store ${kept.most()}`)
  assert.ok(kept.most() > size - SPARE_MIB, 'operations that fit are executed')
  for (const name of ['powerOff', 'powerOn'] as const) {
    assert.equal((await cloud.ask(other, asking[name], cloud.api.ops)).state, 'success')
  }
})
