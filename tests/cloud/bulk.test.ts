// Goal: one request starts hundreds of VMs, each once, also when cells are killed meanwhile. Method: two cells, four simulated hosts that
// have the VMs already; the cell that took the request is killed in the middle, and started again.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import type { TaskId, VmId } from '@skerry/vm'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { DIGEST } from '../../apps/cloud/test/cloud-database.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const VMS = 200
const HOSTS = 4
/** VMs that have ended when the cell is killed. */
const BEFORE_KILL = 20

test(
  'one request starts 200 VMs, each once, although the cell that took it is killed in the middle',
  { skip, timeout: 900_000 },
  async (t) => {
    await using cloud = await startSmallCloud({ cells: 2, hosts: HOSTS })
    await untilOpen(cloud.db, HOSTS)
    await addVms(cloud)
    const client = await cloud.logIn()
    const began = performance.now()
    const path = `/api/query/action/powerOn?type=vm&filter=name==many-*&expect=${VMS}`
    const { status, text, root } = await client.ask('POST', path)
    assert.equal(status, 202, text)
    t.diagnostic(`accepted after ${Math.round(performance.now() - began)} ms`)
    const id = attribute(root, 'href')?.slice(-36) as TaskId
    await until('some have started', async () => (await ended(cloud, id)) >= BEFORE_KILL, 300_000)
    const [first] = cloud.cells
    await first?.kill9()
    assert.ok((await ended(cloud, id)) < VMS, 'the cell was killed in the middle')
    await first?.start()
    await until('all have started', async () => (await ended(cloud, id)) === VMS, 600_000)
    t.diagnostic(`${VMS} VMs: ${Math.round((performance.now() - began) / 1000)} s`)

    const parent = await cloud.db
      .selectFrom('task')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    assert.deepEqual([parent.state, parent.progress, parent.message], ['success', 100, null])
    const children = await cloud.db
      .selectFrom('task')
      .select(['id', 'vm', 'state'])
      .where('parent', '=', id)
      .execute()
    assert.deepEqual(new Set(children.map(({ state }) => state)), new Set(['success']))
    assert.equal(new Set(children.map(({ vm }) => vm)).size, VMS)
    const done = cloud.hosts.flatMap((host) => host.done)
    const steps = Map.groupBy(done, (key) => key.split(':')[0])
    for (const child of children) {
      assert.equal(steps.get(child.id)?.length, 1, `${child.id} was executed once`)
    }
  },
)

async function ended({ db }: SmallCloud, parent: TaskId): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from task
    where parent = ${parent} and ended_at is not null`.execute(db)
  return rows[0]?.n ?? 0
}

/** VMs that exist on their hosts: their creation is not what is measured. */
async function addVms({ db, hosts }: SmallCloud): Promise<void> {
  const { rows } = await sql<{ fence: string }>`select next_fence()::text as fence`.execute(db)
  const fence = rows[0]?.fence ?? ''
  const vdc = await db.selectFrom('vdc').selectAll().executeTakeFirstOrThrow()
  const { org } = vdc
  const { id: vapp } = await db
    .insertInto('vapp')
    .values({ org, vdc: vdc.id, name: 'many', owner: 'alice' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const made = await db
    .insertInto('vm')
    .values(
      Array.from({ length: VMS }, (_, n) => ({
        org,
        vapp,
        name: `many-${n}`,
        image: DIGEST,
        cpus: 1,
        memory_mib: 64,
        disk_mib: 64,
        status: 'POWERED_OFF' as const,
        incarnation: fence,
        host: hosts[n % HOSTS]?.id ?? null,
      })),
    )
    .returning(['id', 'name', 'host'])
    .execute()
  for (const { id, name, host: at } of made) {
    const host = hosts.find((each) => each.id === at)
    assert.ok(host)
    await host.step(orderOf(id, fence), {
      goal: 'defined',
      spec: { org, vApp: vapp, name, image: DIGEST, cpus: 1, memoryMiB: 64, diskMiB: 64 },
    })
  }
}

const orderOf = (vm: VmId, fence: string) => ({
  vm,
  task: vm as unknown as TaskId,
  key: `${vm}:define`,
  fencingToken: fence,
  incarnation: fence,
})
