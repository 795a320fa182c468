// Goal: an operator sees with one command why networks across hosts do not change. Method: the real command on a real PostgreSQL, after
// the functions that a network server calls.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import type { HostId } from '@skerry/vm'
import { sql } from 'kysely'

import { startDatabases } from './cloud-database.ts'
import { openCommands } from './command-site.ts'
import { openZone, projectAll } from './open-zone.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases('nothing')
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

const HOST = '00000000-0000-4000-8000-00000000000a' as HostId

test('the state of a zone names its server, what waits and what failed, and the hosts that are not ready', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  const { db, type } = site
  const read = async () =>
    JSON.parse(await type(['zone', 'info', '--json'])) as Readonly<Record<string, unknown>>
  const empty = await read()
  assert.deepEqual(
    [empty['server'], empty['held'], empty['opened'], empty['waiting'], empty['hosts']],
    [null, false, false, 0, []],
  )
  await sql`insert into host (id, name, address, port, public_key, overlay, overlay_reason) values
    (${HOST}, 'host-1', '192.0.2.1', 8443, 'one', 'none', null),
    (uuid_v7(), 'host-2', '192.0.2.2', 8443, 'two', 'failing', 'ovn-controller is not running')`.execute(
    db,
  )
  const zone = await openZone(db, HOST)
  const external = '00000000-0000-7000-8000-000000000002'
  await sql`insert into edge_group (id, zone, key) values (${external}, ${zone.zone}, 5)`.execute(
    db,
  )
  await sql`insert into edge_group_host (edge_group, host) values (${external}, ${HOST})`.execute(
    db,
  )
  const [change] = await db.selectFrom('network_change').selectAll().execute()
  await sql`select fail_network_change(${zone.zone}, ${zone.fence}, 'edge group', ${external}, ${change?.version}, 'no such column')`.execute(
    db,
  )
  const failing = await read()
  assert.deepEqual(
    [failing['server'], failing['held'], failing['opened'], failing['fencingToken']],
    ['network-1', true, true, zone.fence],
  )
  assert.deepEqual(
    [failing['waiting'], failing['failing'], failing['fault']],
    [1, 1, 'no such column'],
  )
  assert.equal(typeof failing['oldestSeconds'], 'number')
  const table = await type(['zone', 'info'])
  assert.match(
    table,
    /^ZONE +SERVER +TOKEN +OPEN +WAITING +FAILING\ndefault +network-1 +\d+ +yes +1, the oldest for \d+ s +1: no such column\n/,
  )
  assert.match(
    table,
    /\nNAME +STATE +NETWORKS +REASON\nhost-1 +\S+ +ready +-?\nhost-2 +\S+ +failing +ovn-controller is not running$/,
  )
  await projectAll(db, zone)
  await sql`update network_zone set lease_until = clock_timestamp() - interval '1 s'`.execute(db)
  assert.match(
    await type(['zone', 'info']),
    /\ndefault +none; the last was network-1 +\d+ +yes +0 +0\n/,
  )
  await assert.rejects(type(['zone', 'info', 'nowhere']), /there is no zone nowhere/)
})
