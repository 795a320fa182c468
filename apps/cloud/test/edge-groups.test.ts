// Goal: an edge gateway is carried by up to three hosts that belong to the zone, whichever hosts join and leave. Method: a real
// PostgreSQL; hosts are rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { HostId } from '@skerry/vm'
import { sql } from 'kysely'

import { declareLost, revokeHost } from '../src/hosts/host-states.ts'
import { reconcileEdgeGroups } from '../src/reconcile/edge-groups.ts'
import { addHost, openCloudDatabase, startDatabases, type CloudDatabase } from './cloud-database.ts'
import { openZone, projectAll } from './open-zone.ts'

let postgres: Awaited<ReturnType<typeof startDatabases>>
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

interface Zone extends AsyncDisposable {
  readonly cloud: CloudDatabase
  readonly opened: { readonly zone: string; readonly fence: string }
  /** A joined host that is ready. */
  addReady(name: string, uplinks?: readonly string[]): Promise<HostId>
  hosts(): Promise<readonly HostId[]>
}

/** A zone with one ready host and an edge gateway on it. */
async function openWithGateway(): Promise<Zone> {
  const cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const opened = await openZone(db, cloud.host)
  const vdc = await db.selectFrom('vdc').select('id').executeTakeFirstOrThrow()
  await sql`select provide_default_network(${vdc.id})`.execute(db)
  await projectAll(db, opened)
  return {
    cloud,
    opened,
    async addReady(name, uplinks = ['out']) {
      const id = await addHost(db, name)
      const ready = { overlay: 'ready' as const, uplinks: [...uplinks] }
      await db.updateTable('host').set(ready).where('id', '=', id).execute()
      return id
    },
    async hosts() {
      const row = await db.selectFrom('edge_gateway').select('hosts').executeTakeFirstOrThrow()
      return row.hosts
    },
    [Symbol.asyncDispose]: () => cloud[Symbol.asyncDispose](),
  }
}

const sorted = (hosts: readonly HostId[]): readonly HostId[] => hosts.toSorted()

test('an edge gateway that was made with one ready host gets up to three', async () => {
  await using zone = await openWithGateway()
  const { db, host } = zone.cloud
  assert.equal(await reconcileEdgeGroups(db), 0)
  const second = await zone.addReady('host-2')
  assert.equal(await reconcileEdgeGroups(db), 1)
  assert.deepEqual(await zone.hosts(), [host, second])
  const more = [await zone.addReady('host-3'), await zone.addReady('host-4')]
  const passes = await Promise.all([1, 2, 3, 4].map(() => reconcileEdgeGroups(db)))
  assert.equal(
    passes.reduce((sum, each) => sum + each, 0),
    1,
    'one of four passes at once adds it',
  )
  const [first, next, third] = await zone.hosts()
  // Those that carried it stay first: its connections are not broken.
  assert.deepEqual([first, next], [host, second])
  assert.ok(third !== undefined && more.includes(third))
  assert.equal((await zone.hosts()).length, 3)
  assert.equal(await reconcileEdgeGroups(db), 0)
  const changes = await db.selectFrom('network_change').select('kind').orderBy('kind').execute()
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ['edge gateway', 'edge group'],
  )
  const events = await db
    .selectFrom('event')
    .select('details')
    .where('kind', '=', 'edge-group.hosts')
    .orderBy('seq')
    .execute()
  assert.deepEqual(
    events.map(({ details }) => (details as { gateways: number }).gateways),
    [1, 1],
  )
})

test('a host that is not ready, or does not have the uplink, carries none', async () => {
  await using zone = await openWithGateway()
  const { db, host } = zone.cloud
  await addHost(db, 'host-2')
  await zone.addReady('host-3', ['office'])
  assert.equal(await reconcileEdgeGroups(db), 0)
  assert.deepEqual(await zone.hosts(), [host])
})

test('a revoked or lost host is replaced; the last ones stay until there is another', async () => {
  await using zone = await openWithGateway()
  const { db, host } = zone.cloud
  const [second, third] = [await zone.addReady('host-2'), await zone.addReady('host-3')]
  await reconcileEdgeGroups(db)
  const fourth = await zone.addReady('host-4')
  assert.equal(await reconcileEdgeGroups(db), 0, 'three are enough')
  await db.updateTable('cloud').set({ recovering: true }).execute()
  await revokeHost(db, host)
  assert.equal(await reconcileEdgeGroups(db), 0, 'not while the cloud recovers')
  await db.updateTable('cloud').set({ recovering: false }).execute()
  assert.equal(await reconcileEdgeGroups(db), 1)
  assert.deepEqual(sorted(await zone.hosts()), sorted([second, third, fourth]))
  await declareLost(db, second)
  await revokeHost(db, third)
  assert.equal(await reconcileEdgeGroups(db), 1)
  assert.deepEqual(await zone.hosts(), [fourth])
  await revokeHost(db, fourth)
  assert.equal(await reconcileEdgeGroups(db), 0)
  assert.deepEqual(await zone.hosts(), [fourth])
  const fifth = await zone.addReady('host-5')
  assert.equal(await reconcileEdgeGroups(db), 1)
  assert.deepEqual(await zone.hosts(), [fifth])
})

test('a host whose switch fails keeps its place', async () => {
  await using zone = await openWithGateway()
  const { db, host } = zone.cloud
  await db.updateTable('host').set({ overlay: 'failing', uplinks: [] }).execute()
  const second = await zone.addReady('host-2')
  assert.equal(await reconcileEdgeGroups(db), 1)
  assert.deepEqual(await zone.hosts(), [host, second])
})
