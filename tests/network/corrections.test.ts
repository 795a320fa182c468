// Goal: what someone changed in OVN's database by hand is put back, and administrators hear of it. Method: a real PostgreSQL and OVN's
// databases; the full pass of a network server, which it makes every ten minutes, in this process.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonToSkip, until } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'

import { startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { reportCorrections } from '../../apps/network/src/database/changes.ts'
import { holdZone } from '../../apps/network/src/database/lease.ts'
import { startEngines } from '../../apps/network/src/engines/engines.ts'
import { NORTHBOUND, takeFence } from '../../apps/network/src/ovn/fence.ts'
import { followNorthbound } from '../../apps/network/src/ovn/follow-northbound.ts'
import { projectAll } from '../../apps/network/src/zone/project-units.ts'
import { openNetworkSite } from './network-site.ts'

const skip = reasonToSkip('cloud', 'network') ?? false

test('rows that were changed by hand are corrected, with an event', { skip }, async () => {
  await using postgres = await startDatabases()
  await using site = await openNetworkSite(postgres)
  const server = await site.server('network-1')
  const { db } = site.cloud
  await using opened = new AsyncDisposableStack()
  const database = openDatabase({ url: server.database, applicationName: 'test', size: 2 })
  opened.defer(() => database.destroy())
  const pause = (ms: number) => sleep(ms)
  const { id } = await site.zone()
  const leasing = { database, server: 'network-1', pause, now: () => performance.now() }
  const held = await holdZone(leasing, id)
  assert.ok(held)
  const log = () => undefined
  const place = { directory: join(server.data, held.token), tls: server.tls }
  const { northbound } = opened.use(await startEngines({ place, log, pause }))
  await takeFence(northbound, held.token)
  const writer = {
    database: northbound,
    copy: await followNorthbound(northbound),
    token: held.token,
  }
  await db
    .updateTable('network_zone')
    .set({ opened: held.token } as never)
    .execute()
  await site.addNic(1)
  const pass = () => projectAll({ database, held, writer, protected: [], log })
  assert.deepEqual((await pass()).corrected, [], 'what is a change is no correction')
  assert.deepEqual((await pass()).corrected, [])
  const where = [['type', '==', 'router']] as const
  await northbound.transact(NORTHBOUND, [
    { op: 'update', table: 'Logical_Switch_Port', where, row: { addresses: 'unknown' } },
  ])
  const { corrected } = await pass()
  const gateway = await db.selectFrom('edge_gateway').selectAll().executeTakeFirstOrThrow()
  const units = [`edge group/${gateway.edge_group}`, `edge gateway/${gateway.id}`]
  assert.deepEqual(corrected.toSorted(), units.toSorted())
  await reportCorrections(database, held, corrected)
  const reported = async () =>
    db.selectFrom('event').select('details').where('kind', '=', 'network.corrected').execute()
  await until('the event is there', async () => (await reported()).length === 1)
  const details = { zone: 'default', units: 2, examples: corrected }
  assert.deepEqual(await reported(), [{ details }])
  assert.deepEqual((await pass()).corrected, [])
})
