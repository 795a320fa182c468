// Goal: an operation does nothing to a VM that is not what it is believed to be. Method: the activities that Temporal runs, a
// real Postgres, and a simulated host whose VMs are changed behind the cloud's back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { HostApi } from '@skerry/host-api'
import { simulatedHost, type Postgres } from '@skerry/lab'
import type { Order, PowerState, VmId } from '@skerry/vm'

import { operationNamed } from '../src/operations.ts'
import { submitTask } from '../src/store/submit-task.ts'
import { powersOf, type Status } from '../src/vm-status.ts'
import { vmAt } from './away-host.ts'
import {
  openCloudDatabase,
  seal,
  startDatabases,
  taskOf,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'
import { workQueue } from './work-queue.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const ask = (cloud: CloudDatabase, vm: VmId, name: string) =>
  cloud.as(cloud.who, (tx) => submitTask(tx, operationNamed(name), { vm, owner: 'alice' }))

/** Has it done, from its request to its end, and answers with how it ended and what the host was ordered. */
async function done(cloud: CloudDatabase, host: HostApi, vm: VmId, name: string) {
  const { id } = await ask(cloud, vm, name)
  return { orders: await work(cloud, host, vm), ...(await taskOf(cloud.db, id)) }
}

/** Carries out all that waits in the VM's queue. Answers with what the host was ordered. */
async function work(cloud: CloudDatabase, host: HostApi, vm: VmId): Promise<readonly Order[]> {
  const orders: Order[] = []
  const link: HostApi = {
    ...{ follow: (session, signal) => host.follow(session, signal), records: () => host.records() },
    ...{ stop: (each, key) => host.stop(each, key), ping: (session, n) => host.ping(session, n) },
    ...{ arm: (screen) => host.arm(screen), open: (each, t, signal) => host.open(each, t, signal) },
    takeScreenshot: (each, boot) => host.takeScreenshot(each, boot),
    step(order, goal) {
      orders.push(order)
      return host.step(order, goal)
    },
  }
  await workQueue({ db: cloud.db, hosts: () => link, seal }, vm)
  return orders
}

/** What is believed, what is so, what is asked; how it ends, and what is so afterwards. */
const surprises: readonly [Status, PowerState, string, string, PowerState | undefined][] = [
  ['POWERED_OFF', 'on', 'delete', 'wrong-state', 'on'],
  ['POWERED_OFF', 'on', 'powerOn', 'success', 'on'],
  ['POWERED_ON', 'off', 'powerOff', 'success', 'off'],
  ['POWERED_ON', 'off', 'reset', 'wrong-state', 'off'],
  ['POWERED_ON', 'suspended', 'powerOff', 'wrong-state', 'suspended'],
  ['POWERED_ON', 'off', 'suspend', 'wrong-state', 'off'],
  ['POWERED_OFF', 'suspended', 'delete', 'success', undefined],
  ['SUSPENDED', 'paused', 'powerOn', 'success', 'on'],
  ['SUSPENDED', 'paused', 'discardSuspendedState', 'success', 'off'],
  ['SUSPENDED', 'off', 'discardSuspendedState', 'success', 'off'],
  ['SUSPENDED', 'on', 'discardSuspendedState', 'wrong-state', 'on'],
]

for (const [believed, real, name, end, left] of surprises) {
  test(`${name} of a VM that is believed ${believed} and is ${real}: ${end}`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    const [vm] = (await cloud.addVms(1, believed)).vms as [VmId]
    const host = simulatedHost({ vms: [vmAt(vm, real)] })
    const { state, fault } = await done(cloud, host, vm, name)
    assert.equal(state === 'success' ? state : fault, end)
    assert.equal(host.find(vm)?.power, left)
  })
}

test('the first step of an operation names the states that it declares, and undo none', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  const broken: HostApi = Object.assign(simulatedHost({ vms: [vmAt(vm, 'off')] }), {
    async step(order: Order) {
      if (!order.key.endsWith(':undo')) throw new Fault('no-room', 'it does not start')
      return { session: '0', seq: 0 }
    },
  })
  const { state, orders } = await done(cloud, broken, vm, 'powerOn')
  assert.equal(state, 'error')
  assert.deepEqual(
    orders.map(({ from }) => from),
    [['off', 'paused', 'suspended'], undefined],
  )
})

test('what no host has yet is in no power', () => {
  assert.equal(powersOf(['UNRESOLVED']), undefined)
  assert.deepEqual(powersOf(['POWERED_ON']), ['on'])
  assert.deepEqual(powersOf(['SUSPENDED']), ['paused', 'suspended'])
})

for (const [then, left] of [
  ['suspend', 'suspended'],
  ['powerOff', 'off'],
] as const) {
  test(`${then} behind powerOn is done although nobody heard of the start`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    const [vm] = (await cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
    // Nobody follows this host, as after a restart of vmd: what its steps report has no place among the reports.
    const host = simulatedHost({ vms: [vmAt(vm, 'off')] })
    const tasks = [await ask(cloud, vm, 'powerOn'), await ask(cloud, vm, then)]
    await work(cloud, host, vm)
    for (const { id } of tasks) assert.equal((await taskOf(cloud.db, id)).state, 'success')
    assert.equal((await vmOf(cloud.db, vm)).status, 'POWERED_OFF', 'what is written is behind')
    assert.equal(host.find(vm)?.power, left)
  })
}
