// Goal: "no room" is returned only if there is none. Method: the placement itself, on a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import type { Postgres } from '@skerry/lab'
import type { TaskId } from '@skerry/vm'
import { sql } from 'kysely'

import { placeVm } from '../src/operations/place.ts'
import { openCloudDatabase, startDatabases, vmOf, type CloudDatabase } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

/** Places a new VM; returns the kind of the Fault, or undefined if it got a host. */
async function place(cloud: CloudDatabase): Promise<string | undefined> {
  const { vms } = await cloud.addVms(1, 'UNRESOLVED')
  const [vm] = vms
  assert.ok(vm)
  const task = '00000000-0000-4000-8000-000000000002' as TaskId
  try {
    await placeVm(cloud.db, { vm, fencingToken: '0', task })
  } catch (error) {
    return (error as Fault).kind
  }
  assert.equal((await vmOf(cloud.db, vm)).host, cloud.host)
  return undefined
}

const change = ({ db }: CloudDatabase, set: ReturnType<typeof sql>) =>
  sql`update host set ${set}`.execute(db)

test('placement waits for a host with capacity that will be reachable again soon', async () => {
  await using cloud = await openCloudDatabase(postgres)
  assert.equal(await place(cloud), undefined)
  // Its follower died, and no other cell has taken over yet.
  await change(cloud, sql`follow_until = clock_timestamp() - interval '1 s'`)
  assert.equal(await place(cloud), 'unavailable')
  await change(cloud, sql`follower = null, follow_until = null`)
  assert.equal(await place(cloud), 'unavailable')
  // Followed, and its vmd has just disconnected.
  await change(
    cloud,
    sql`follower = 'test', follow_until = clock_timestamp() + interval '1 h', list_session = 0,
      seen_at = clock_timestamp() - interval '5 s'`,
  )
  assert.equal(await place(cloud), 'unavailable')
  await change(cloud, sql`list_session = session`)
  assert.equal(await place(cloud), undefined)
})

test('it does not wait for a host that was away for long, is disabled, in quarantine, revoked or full', async () => {
  await using cloud = await openCloudDatabase(postgres)
  await change(cloud, sql`list_session = 0, seen_at = clock_timestamp() - interval '10 min'`)
  assert.equal(await place(cloud), 'no-room')
  await change(cloud, sql`seen_at = clock_timestamp()`)
  assert.equal(await place(cloud), 'unavailable')
  for (const [set, back] of [
    [sql`enabled = false`, sql`enabled = true`],
    [sql`quarantine = 'asked to'`, sql`quarantine = null`],
    [sql`state = 'revoked'`, sql`state = 'joined'`],
    [sql`memory_mib = 1`, sql`memory_mib = 65536`],
  ] as const) {
    await change(cloud, set)
    assert.equal(await place(cloud), 'no-room')
    await change(cloud, back)
  }
  assert.equal(await place(cloud), 'unavailable')
})
