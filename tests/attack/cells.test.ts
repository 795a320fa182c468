// Threat: a live but faulty cell. It reaches PostgreSQL and Temporal, but not one host or any host, or its clock is 400 days off,
// so that hosts and cell do not trust each other. Such a cell kept its hosts, whose VMs stayed UNKNOWN, and failed tasks of
// tenants. Method: two real cells, PostgreSQL and Temporal, four simulated hosts behind real mTLS. The second cell is in its own
// network namespace, where packets to hosts are dropped; libfaketime gives it another clock. Tenants send requests to the faulty
// cell itself.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'

import { reasonToSkip, reasonWithoutTemporal, until } from '@skerry/lab'
import type { HostId } from '@skerry/vm'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { taskOf, type CloudClient } from '../../apps/cloud/test/cloud-client.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { closeNetwork, type ClosedNetwork } from './closed-network.ts'

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
const HOSTS = 4
const SEEN_WITHIN_MS = 30_000
const skip = reasonToSkip('cloud', 'console') ?? (await reasonWithoutTemporal()) ?? false

interface Stage {
  readonly cloud: SmallCloud
  readonly network: ClosedNetwork
  /** A client of the cell that becomes faulty. */
  readonly client: CloudClient
  readonly vms: readonly Made[]
}

interface Made {
  readonly href: string
  readonly host: HostId
}

const portOf = async ({ db }: SmallCloud, id: HostId): Promise<number> =>
  (await db.selectFrom('host').select('port').where('id', '=', id).executeTakeFirstOrThrow()).port

async function heldBy({ db }: SmallCloud, cell: string): Promise<readonly HostId[]> {
  const rows = await db.selectFrom('host').select('id').where('follower', '=', cell).execute()
  return rows.map(({ id }) => id)
}

/** The time until the other cell reaches all of these hosts, so that the state of all VMs is known. */
async function untilSeen(stage: Stage, hosts: readonly HostId[], since: number): Promise<number> {
  const { db } = stage.cloud
  await until(
    'the other cell reaches them, and the state of all VMs is known',
    async () => {
      const rows = await db
        .selectFrom('host')
        .select('id')
        .where('follower', '=', 'cell-1')
        .where(sql<boolean>`list_session = session`)
        .where(sql<boolean>`id = any(${hosts}::uuid[])`)
        .execute()
      if (rows.length < hosts.length) return false
      const unseen = await db
        .selectFrom('vm')
        .select('vapp')
        .where('displayed_status', '=', 'UNKNOWN')
        .execute()
      return !stage.vms.some(({ href }) => unseen.some(({ vapp }) => href.includes(vapp)))
    },
    SEEN_WITHIN_MS * 3,
  )
  return performance.now() - since
}

/** A VM of each of these hosts is powered off and on, and a new one is created: all through the faulty cell. */
async function work({ client, vms }: Stage, hosts: readonly HostId[], name: string): Promise<void> {
  const requested = hosts.flatMap((host) => vms.find((vm) => vm.host === host) ?? [])
  assert.equal(requested.length, hosts.length, 'each host has a VM')
  const tasks = await Promise.all([
    ...requested.flatMap(({ href }) =>
      ['powerOff', 'powerOn'].map((action) =>
        client.ask('POST', `${href}/power/action/${action}`).then(({ status, root, text }) => {
          assert.equal(status, 202, text)
          return taskOf(root)
        }),
      ),
    ),
    client.instantiate(name).then(({ root }) => taskOf(root)),
  ])
  for (const task of tasks) {
    const ended = await client.ended(task, 90_000)
    assert.equal(attribute(ended, 'status'), 'success', JSON.stringify(ended))
  }
}

/** The second cell becomes faulty: the VMs of its hosts are reported again in time, and no task fails. */
async function goWrong(t: TestContext, stage: Stage, hosts: readonly HostId[], what: string) {
  const since = performance.now()
  const [seenMs] = await Promise.all([
    untilSeen(stage, hosts, since),
    work(stage, hosts, what.replaceAll(' ', '-')),
  ])
  t.diagnostic(
    `${what}: seen again after ${Math.round(seenMs)} ms, all tasks done after ${Math.round(performance.now() - since)} ms`,
  )
  assert.ok(seenMs <= SEEN_WITHIN_MS, `${what}: ${seenMs} ms`)
}

const unfit = async ({ db }: SmallCloud, condition: string): Promise<boolean> => {
  const { rows } = await sql<{ kind: string }>`select kind from event
    where details->>'condition' = ${condition} order by seq desc limit 1`.execute(db)
  return rows[0]?.kind === 'cell.unfit'
}

async function setStage(stack: AsyncDisposableStack): Promise<Stage> {
  const cloud = stack.use(await startSmallCloud({ cells: 2, hosts: HOSTS }))
  const [, wrong] = cloud.cells
  assert.ok(wrong)
  await wrong.kill9()
  const hosts = await cloud.db.selectFrom('host').select(['id', 'port']).execute()
  const port = (url: string) => Number(new URL(url).port)
  const own = port(wrong.url)
  const engines = [port(cloud.postgres.urlOf('cloud')), port(`https://${cloud.temporal.address}`)]
  const network = stack.use(
    await closeNetwork([...engines, ...hosts.map((host) => host.port)], [own]),
  )
  await wrong.startUnder(network.prefix)
  // The cell is stopped before its network is removed.
  stack.defer(() => wrong.kill9())
  await until(
    'the hosts are shared',
    async () => (await heldBy(cloud, 'cell-2')).length === 2,
    40_000,
  )
  await untilOpen(cloud.db, HOSTS)
  const client = (await cloud.logIn()).at(`https://127.0.0.1:${await network.at(own)}`)
  const made = await Promise.all(
    Array.from({ length: 2 * HOSTS }, async (_, n) => {
      const { root } = await client.instantiate(`vm-${n}`)
      assert.equal(attribute(await client.ended(taskOf(root)), 'status'), 'success')
      return attribute(root, 'href') ?? ''
    }),
  )
  const rows = await cloud.db.selectFrom('vm').select(['vapp', 'host']).execute()
  const vms = made.map((href) => {
    const host = rows.find(({ vapp }) => href.includes(vapp))?.host
    assert.ok(host, href)
    return { href, host }
  })
  return { cloud, network, client, vms }
}

test(
  'a cell that is disconnected, or whose clock is wrong, fails no task and hides no VM',
  { skip, timeout: 400_000 },
  async (t) => {
    await using stack = new AsyncDisposableStack()
    const stage = await setStage(stack)
    const { cloud, network } = stage
    const [, wrong] = cloud.cells
    assert.ok(wrong)
    const [first, second] = await heldBy(cloud, 'cell-2')
    assert.ok(first && second)

    await network.drop([await portOf(cloud, first)])
    await goWrong(t, stage, [first], 'disconnected from one host')
    assert.deepEqual(await heldBy(cloud, 'cell-2'), [second], 'it keeps the hosts that it reaches')

    const others = cloud.hosts.map(({ id }) => id).filter((id) => id !== first)
    await network.drop(await Promise.all(others.map((id) => portOf(cloud, id))))
    await goWrong(t, stage, [second], 'disconnected from all hosts')
    await until('it reports that it is unfit', () => unfit(cloud, 'hosts'), 30_000)
    await network.fix()
    await until('it is fit again', async () => !(await unfit(cloud, 'hosts')), 30_000)

    for (const clock of ['+400d', '-400d']) {
      await wrong.kill9()
      const held = await heldBy(cloud, 'cell-2')
      const env = { LD_PRELOAD: FAKETIME, FAKETIME: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
      await wrong.startUnder(network.prefix, env)
      const all = cloud.hosts.map(({ id }) => id)
      t.diagnostic(`${clock}: it held ${held.length} hosts`)
      await goWrong(t, stage, all, `a clock of ${clock}`)
      await until('it says so', () => unfit(cloud, 'clock'), 30_000)
      assert.deepEqual(await heldBy(cloud, 'cell-2'), [], 'and follows none')
    }

    const failed = await cloud.db
      .selectFrom('task')
      .selectAll()
      .where('state', 'in', ['error', 'canceled'])
      .execute()
    assert.deepEqual(failed, [], 'no task failed')
  },
)
