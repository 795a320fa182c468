// Goal: administrators are notified of orphan VMs and of missing VMs, and of no others. Method: the follower of a host, on a real
// Postgres, with a simulated host that connects and disconnects.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { CutHost, followed, vmAt } from './away-host.ts'
import { kindsOf, openCloudDatabase, startDatabases, vmOf } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

test('a VM that is being deleted is not reported as missing', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const [gone] = (await cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  await db.updateTable('vm').set({ seen_session: '1', closed: true }).execute()
  await using following = await followed(db, id, new CutHost(simulatedHost()))
  for (let round = 0; round < 2; round += 1) {
    await following.goAway()
    await following.comeBack()
  }
  assert.deepEqual(await kindsOf(db), [])
  assert.equal((await vmOf(db, gone)).missing, 0)
})

test('a VM that was deleted while its host was listed is not an orphan; one that is still there later is', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const [gone] = (await cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  const deleted = (ago: string) =>
    db
      .updateTable('vm')
      .set({
        host: null,
        closed: true,
        status: 'RESOLVED',
        deleted_at: sql<Date>`clock_timestamp() - ${ago}::interval`,
      })
      .execute()
  await deleted('1 s')
  const host = new CutHost(simulatedHost({ vms: [vmAt(gone, 'off')] }))
  await using following = await followed(db, id, host)
  assert.deepEqual(await kindsOf(db), [])
  await deleted('1 h')
  await following.goAway()
  await following.comeBack()
  assert.deepEqual(await kindsOf(db), ['vm.orphaned'])
})

test('a VM missing from two lists, and an unknown VM, are reported to administrators; nothing is changed', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const [lost] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  const orphan = '01980000-0000-7000-8000-00000000abcd' as VmId
  await db.updateTable('vm').set({ seen_session: '1' }).execute()
  const host = simulatedHost({ vms: [vmAt(orphan, 'on')] })
  await using following = await followed(db, id, new CutHost(host))
  assert.equal((await vmOf(db, lost)).displayed_status, 'UNKNOWN')
  assert.deepEqual(await kindsOf(db), ['vm.orphaned'], 'one list is not enough')
  for (let round = 0; round < 2; round += 1) {
    await following.goAway()
    await following.comeBack()
  }
  const missing = (await kindsOf(db)).filter((kind) => kind === 'vm.missing')
  assert.deepEqual(missing, ['vm.missing'])
  const [reported] = await db
    .selectFrom('event')
    .selectAll()
    .where('kind', '=', 'vm.missing')
    .execute()
  assert.deepEqual([reported?.vm, reported?.org, reported?.host], [lost, cloud.principal.org, id])
  assert.deepEqual(host.done, [])
  assert.equal(host.find(orphan)?.power, 'on')
})
