// Goal: a change of network cards that fails leaves rows and host as they were, and nothing that the cards had is lost in the meantime.
// Method: the steps as a worker runs them, on a real PostgreSQL, with a simulated host that refuses.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { Goal, HostApi } from '@skerry/host-api'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { VmId } from '@skerry/vm'

import type { WantedNic } from '../src/domain/plan-nics.ts'
import { carryOut } from '../src/durable/carry-out.ts'
import { nicRows, specNics, writeNics } from '../src/inventory/nics.ts'
import { connectVm } from '../src/operations/connect.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { deleteNetwork } from '../src/tenants/networks.ts'
import { Activities } from '../src/worker/activities.ts'
import { CutHost, followed, vmAt } from './away-host.ts'
import {
  openCloudDatabase,
  seal,
  startDatabases,
  taskOf,
  type CloudDatabase,
} from './cloud-database.ts'
import { addNetworkRow } from './network-rows.ts'
import { openZone } from './open-zone.ts'

let postgres: Awaited<ReturnType<typeof startDatabases>>
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const on = (network: string, more: Partial<WantedNic> = {}): WantedNic => ({
  index: 0,
  network,
  mode: 'POOL',
  connected: true,
  ...more,
})

/** A VM with a card on one network, a second network, and a host that is followed. */
async function openSite() {
  const cloud = await openCloudDatabase(postgres)
  const { db, principal } = cloud
  const { org } = principal
  const vdc = await db.selectFrom('vdc').select('id').executeTakeFirstOrThrow()
  const [lab, other] = [
    await addNetworkRow(db, { org, vdc: vdc.id, name: 'lab' }),
    await addNetworkRow(db, { org, vdc: vdc.id, name: 'other' }),
  ]
  await openZone(db, cloud.host)
  const [vm, neighbour] = (await cloud.addVms(2)).vms as [VmId, VmId]
  const write = (id: VmId, ...nics: WantedNic[]) =>
    cloud.as(principal, (tx) => writeNics(tx, org, new Map([[id, nics]])))
  await write(vm, on(lab), on(lab, { index: 1 }))
  const host = simulatedHost({
    hello: { overlay: { state: 'ready', uplinks: ['out'] } },
    vms: [vmAt(vm, 'off'), vmAt(neighbour, 'off')],
  })
  const link = new CutHost(host)
  const following = await followed(db, cloud.host, link)
  return {
    cloud,
    vm,
    neighbour,
    lab,
    other,
    write,
    link,
    rows: () => db.transaction().execute((tx) => nicRows(tx, [vm])),
    async [Symbol.asyncDispose]() {
      await following[Symbol.asyncDispose]()
      await cloud[Symbol.asyncDispose]()
    },
  }
}

/** Runs the task to its end. */
async function connect(cloud: CloudDatabase, vm: VmId, nics: readonly WantedNic[], api: HostApi) {
  const { db, principal } = cloud
  const { id } = await cloud.as(principal, (tx) =>
    submitTask(tx, connectVm, { vm, owner: 'alice', input: { nics } }),
  )
  const activities = new Activities(
    { db, hosts: () => api, wake: () => undefined, seal },
    [connectVm],
    { perHost: 9, perOrg: 9 },
    () => ({ signal: new AbortController().signal }),
  )
  const plan = await activities.claimTask(vm, 'worker')
  assert.ok(plan)
  await carryOut(
    plan,
    () => activities,
    (error) => {
      if (!(error instanceof Fault)) throw error
      return { kind: error.kind, message: error.message }
    },
  )
  return taskOf(db, id)
}

test('a host that refuses the cards keeps those that it had, and so do the rows', async () => {
  await using site = await openSite()
  const { cloud, vm, neighbour, lab, other, write, link } = site
  const { org } = cloud.principal
  const [had, spec] = [await site.rows(), await specNics(cloud.db, { org, id: vm })]
  assert.equal(had.length, 2)
  const sent: Goal[] = []
  const refusing: HostApi = {
    ...link.api,
    async step(order, goal, signal, progress) {
      sent.push(goal)
      if (sent.length > 1) return link.api.step(order, goal, signal, progress)
      const moved = await specNics(cloud.db, { org, id: vm })
      assert.deepEqual(
        moved?.map(({ network }) => network),
        [other],
      )
      // In the meantime no other card gets what they had.
      const taken = on(lab, { mode: 'MANUAL', address: had[0]?.address ?? '' })
      await assert.rejects(write(neighbour, taken), /another VM has the address/)
      const deleting = cloud.as(cloud.principal, (tx) =>
        deleteNetwork(tx, cloud.principal, { id: lab, org }),
      )
      await assert.rejects(deleting, /VM vm-0 is leaving network lab/)
      throw new Fault('wrong-state', 'this host has no Open vSwitch')
    },
  }
  const task = await connect(cloud, vm, [on(other)], refusing)
  assert.deepEqual([task.state, task.message], ['error', 'this host has no Open vSwitch'])
  const byIndex = (rows: typeof had) => rows.toSorted((a, b) => a.index - b.index)
  assert.deepEqual(byIndex(await site.rows()), byIndex(had))
  const last = sent.at(-1)
  assert.ok(sent.length === 2 && last?.goal === 'defined')
  assert.deepEqual(last.spec.nics, spec, 'the host is told the earlier cards')
})

test('a VM that was turned on in the meantime keeps its cards; their links change', async () => {
  await using site = await openSite()
  const { cloud, vm, lab, other, link } = site
  const had = await site.rows()
  const turningOn: CloudDatabase = {
    ...cloud,
    as: async (principal, work) => {
      const done = await cloud.as(principal, work)
      await cloud.db.updateTable('vm').set({ status: 'POWERED_ON' }).where('id', '=', vm).execute()
      return done
    },
  }
  const moved = await connect(turningOn, vm, [on(other)], link.api)
  assert.match(moved.message ?? '', /VM vm-0 is POWERED_ON: only IsConnected/)
  assert.deepEqual(await site.rows(), had)
  const pulled = [on(lab, { connected: false }), on(lab, { index: 1 })]
  const task = await connect(turningOn, vm, pulled, link.api)
  assert.deepEqual([task.state, task.message], ['success', null])
  assert.deepEqual(
    (await site.rows()).toSorted((a, b) => a.index - b.index).map(({ connected }) => connected),
    [false, true],
  )
})
