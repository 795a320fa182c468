// Goal: an operation does nothing to a VM whose actual state differs from the recorded one. Method: the activities that Temporal
// runs, a real Postgres, and a simulated host whose VMs change without the cloud's knowledge.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { HostApi } from '@skerry/host-api'
import { type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import { powerStates, type Order, type PowerState, type VmId } from '@skerry/vm'

import { powersOf, type Status } from '../src/domain/vm-status.ts'
import { operationNamed, operations } from '../src/operations/vm-operations.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { vmAt } from './away-host.ts'
import {
  openCloudDatabase,
  seal,
  startDatabases,
  taskOf,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'
import { inputOf, makeOffered } from './make-offered.ts'
import { workQueue } from './work-queue.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const ask = (cloud: CloudDatabase, vm: VmId, name: string) =>
  cloud.as(cloud.principal, (tx) => {
    const operation = operationNamed(name)
    return submitTask(tx, operation, { vm, owner: 'alice', input: inputOf(operation) })
  })

/** Runs an operation from its request to its end; returns how it ended and the orders to the host. */
async function done(cloud: CloudDatabase, host: HostApi, vm: VmId, name: string) {
  const { id } = await ask(cloud, vm, name)
  return { orders: await work(cloud, host, vm), ...(await taskOf(cloud.db, id)) }
}

/** Executes all tasks in the VM's queue; returns the orders to the host. */
async function work(cloud: CloudDatabase, host: HostApi, vm: VmId): Promise<readonly Order[]> {
  const orders: Order[] = []
  const link: HostApi = {
    follow: (session, signal) => host.follow(session, signal),
    records: () => host.records(),
    stop: (each, key) => host.stop(each, key),
    ping: (session, n) => host.ping(session, n),
    arm: (screen) => host.arm(screen),
    open: (each, t, signal) => host.open(each, t, signal),
    takeScreenshot: (each, boot) => host.takeScreenshot(each, boot),
    readUsage: (each, window) => host.readUsage(each, window),
    joinOverlay: (join) => host.joinOverlay(join),
    step(order, goal) {
      orders.push(order)
      return host.step(order, goal)
    },
  }
  await workQueue({ db: cloud.db, hosts: () => link, seal }, vm)
  return orders
}

/** The recorded state, the actual state, and the operation; how it ends, and the actual state afterwards. */
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
  test(`${name} of a VM that is recorded as ${believed} and is ${real}: ${end}`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    const [vm] = (await cloud.addVms(1, believed)).vms as [VmId]
    const host = simulatedHost({ vms: [vmAt(vm, real)] })
    const { state, fault } = await done(cloud, host, vm, name)
    assert.equal(state === 'success' ? state : fault, end)
    assert.equal(host.find(vm)?.power, left)
  })
}

const powerAfter: Readonly<Partial<Record<Status, PowerState>>> = {
  POWERED_OFF: 'off',
  POWERED_ON: 'on',
  SUSPENDED: 'suspended',
}

for (const operation of operations.filter(({ kind }) => kind === 'change' || kind === 'delete')) {
  const { name, from, to } = operation
  test(`${name} changes a VM only from the states that it declares, or if it has the effect already`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    for (const believed of from.filter((status) => status in powerAfter)) {
      for (const real of powerStates) {
        const [id] = (await cloud.addVms(1, believed)).vms as [VmId]
        const { nested, snapshot, snapshot_on } = await makeOffered(cloud.db, id, operation)
        const host = simulatedHost({ vms: [{ ...vmAt(id, real), name: 'vm-0', nested }] })
        if (snapshot !== null) host.keepSnapshot(id, snapshot, snapshot_on)
        const before = host.find(id)
        const { state, fault } = await done(cloud, host, id, name)
        const may = powersOf(from)?.includes(real) || (to !== undefined && powerAfter[to] === real)
        const what = `recorded as ${believed}, is ${real}`
        assert.equal(state === 'success' ? state : fault, may ? 'success' : 'wrong-state', what)
        if (!may) assert.deepEqual(host.find(id), before, what)
        else if (to !== undefined) assert.equal(host.find(id)?.power, powerAfter[to], what)
      }
    }
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

test('a VM that no host has yet has no power state', () => {
  assert.equal(powersOf(['UNRESOLVED']), undefined)
  assert.deepEqual(powersOf(['POWERED_ON']), ['on'])
  assert.deepEqual(powersOf(['SUSPENDED']), ['paused', 'suspended'])
})

for (const [then, left] of [
  ['suspend', 'suspended'],
  ['powerOff', 'off'],
] as const) {
  test(`${then} queued behind powerOn is executed although the start was never observed`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    const [vm] = (await cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
    // No cell follows this host, as after a restart of vmd: reports in the responses to steps cannot be ordered.
    const host = simulatedHost({ vms: [vmAt(vm, 'off')] })
    const tasks = [await ask(cloud, vm, 'powerOn'), await ask(cloud, vm, then)]
    await work(cloud, host, vm)
    for (const { id } of tasks) assert.equal((await taskOf(cloud.db, id)).state, 'success')
    assert.equal((await vmOf(cloud.db, vm)).status, 'POWERED_OFF', 'the recorded state is outdated')
    assert.equal(host.find(vm)?.power, left)
  })
}
