// Goal: an undeclared restore is detected before any task starts, also while no host is reachable. Method: a dump while a VM is
// being created, the VM completed, the dump restored long after; the cells start, the hosts are silent, and nothing may be
// undone.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { anHourPasses, backUp, restore } from './restore-page.ts'
import { make } from './vapps.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const RECOVERED_MS = 60_000

/** Every step at every host waits until it is released. */
function hold({ hosts }: SmallCloud): {
  readonly requested: Promise<void>
  readonly goOn: () => void
} {
  const [requested, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  for (const host of hosts) {
    const step = host.step.bind(host)
    host.step = async (...order) => {
      requested.resolve()
      await go.promise
      return step(...order)
    }
  }
  return { requested: requested.promise, goOn: go.resolve }
}

/** No host reports anything before it is released: the cloud recovers until then. Orders are executed. */
function silence({ hosts }: SmallCloud): () => void {
  const spoken = Promise.withResolvers<void>()
  for (const host of hosts) {
    const [follow, records] = [host.follow.bind(host), host.records.bind(host)]
    host.follow = async function* follow_(...session) {
      await spoken.promise
      yield* follow(...session)
    }
    host.records = async function* records_(signal) {
      await spoken.promise
      yield* records(signal)
    }
  }
  return spoken.resolve
}

const isRecovering = async ({ db }: SmallCloud) =>
  (await db.selectFrom('cloud').select('recovering').executeTakeFirstOrThrow()).recovering

test('the cells detect an undeclared restore before any host reports', { skip }, async (t) => {
  await using cloud = await startSmallCloud({ cells: 2, hosts: 2 })
  await untilOpen(cloud.db, 2)
  const client = await cloud.logIn()
  await make(client, 'old')
  const held = hold(cloud)
  const young = await client.instantiate('young')
  await held.requested
  const kept = {
    database: cloud.postgres.urlOf('cloud'),
    dump: join(cloud.postgres.dir, 'cloud.dump'),
  }
  await backUp(kept)
  const given = await anHourPasses(cloud.db)
  held.goOn()
  assert.equal(attribute(await client.ended(taskOf(young.root)), 'status'), 'success')
  await make(client, 'younger')
  const onHosts = () => cloud.hosts.map((host) => host.done.length)
  const before = onHosts()
  const isWritten = async () => {
    const seen = cloud.cells.map(({ log }) => readFile(log.replace(/([^/]+)\.log$/, 'seen-$1')))
    return (await Promise.all(seen)).every((number) => BigInt(number.toString()) > given)
  }
  await until('every cell has recorded its highest number', isWritten, RECOVERED_MS)

  for (const cell of cloud.cells) await cell.kill9()
  await restore(kept)
  // As after a long downtime: the holder of the task has released it, and its lease has expired.
  await sql`update task set deadline = clock_timestamp() where state = 'running'`.execute(cloud.db)
  await sql`update vm set lease_until = clock_timestamp() where lease_until is not null`.execute(
    cloud.db,
  )
  const speak = silence(cloud)
  const began = performance.now()
  for (const cell of cloud.cells) await cell.start()
  await until('the cloud is recovering', () => isRecovering(cloud), RECOVERED_MS)
  t.diagnostic(`detected ${Math.round(performance.now() - began)} ms after the cells were started`)
  const task = taskOf(young.root)
  await until(
    'open tasks have ended',
    async () => attribute(await client.get(task), 'status') === 'error',
    RECOVERED_MS,
  )
  assert.deepEqual(onHosts(), before, 'nothing was executed at any host')
  speak()
  await until('the cloud has recovered', async () => !(await isRecovering(cloud)), RECOVERED_MS)
  assert.deepEqual(onHosts(), before, 'and nothing was undone')
})
