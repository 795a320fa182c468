// Goal: the cloud knows which hosts are ready for networks, and hosts know where the databases of their zone are. Method: the follower
// itself, on a real Postgres, with simulated hosts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { HostApi } from '@skerry/host-api'
import { until } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { HostOverlay } from '@skerry/vm'
import { sql } from 'kysely'

import { recordOverlay } from '../src/hosts/join-overlay.ts'
import { CutHost, followed } from './away-host.ts'
import { kindsOf, openCloudDatabase, startDatabases, type CloudDatabase } from './cloud-database.ts'
import { openZone } from './open-zone.ts'

let postgres: Awaited<ReturnType<typeof startDatabases>>
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const fresh: HostOverlay = { state: 'failing', reason: 'it has not joined', uplinks: ['out'] }
const ready: HostOverlay = { state: 'ready', uplinks: ['out'] }

const stored = ({ db, host }: CloudDatabase) =>
  db
    .selectFrom('host')
    .select(['overlay', 'overlay_reason', 'uplinks', 'tunnel_address'])
    .where('id', '=', host)
    .executeTakeFirstOrThrow()

test('a host without Open vSwitch joins nothing, and nothing is stored or reported about it', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const host = simulatedHost({ pingMs: 20 })
  await openZone(cloud.db, cloud.host)
  await sql`update host set overlay = 'none', uplinks = '{}'`.execute(cloud.db)
  let pings = 0
  const counted: HostApi = {
    ...new CutHost(host).api,
    async *follow(session, signal) {
      for await (const line of host.follow(session, signal)) {
        if (line.kind === 'ping') pings += 1
        yield line
      }
    },
  }
  await using _ = await followed(cloud.db, cloud.host, new CutHost(counted))
  // It would join at its hello, or at one of these.
  await until('it was followed for a while', () => pings >= 4)
  assert.equal((await stored(cloud)).overlay, 'none')
  assert.equal(host.joined, undefined)
  assert.ok(!(await kindsOf(cloud.db)).includes('host.overlay'))
})

test('what a replaced session reports late is not stored', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  await db.updateTable('host').set({ session: '8' }).where('id', '=', id).execute()
  await recordOverlay(db, { id, session: '8' }, ready)
  await recordOverlay(db, { id, session: '7' }, fresh)
  assert.equal((await stored(cloud)).overlay, 'ready')
})

test('a host joins its zone when the zone is open, again when it is opened elsewhere, and its state is what it reports', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const host = simulatedHost({ pingMs: 20, hello: { overlay: fresh } })
  await using _ = await followed(db, cloud.host, new CutHost(host))
  assert.deepEqual(await stored(cloud), {
    overlay: 'failing',
    overlay_reason: 'it has not joined',
    uplinks: ['out'],
    tunnel_address: null,
  })
  assert.equal(host.joined, undefined, 'no network server has opened the zone')
  const { zone, fence } = await openZone(db, cloud.host)
  await until('it joined', () => host.joined !== undefined)
  assert.deepEqual(host.joined, {
    fencingToken: fence,
    remote: 'ssl:192.0.2.1:6642',
    systemId: cloud.host,
    tunnelAddress: '127.0.0.1',
    mtu: 1442,
  })
  host.changeOverlay(ready)
  await until('it is ready', async () => (await stored(cloud)).overlay_reason === null)
  assert.equal((await stored(cloud)).overlay, 'ready')
  await sql`select release_zone(${zone}, ${fence})`.execute(db)
  const next = await openZone(db, cloud.host, 'network-2')
  await until('it joined the next', () => host.joined?.fencingToken === next.fence)
  host.changeOverlay({ ...ready, state: 'failing', reason: 'ovn-controller is not connected' })
  await until('it fails', async () => (await stored(cloud)).overlay === 'failing')
  const kinds = (await kindsOf(db)).filter((kind) => kind === 'host.overlay')
  assert.ok(kinds.length >= 2, kinds.join())
})
