// Goal: a cell that is killed at any step of any operation leaves nothing over, duplicated or unfinished. Method: a VM for every
// operation, every status it may begin at, every step, before and after it. A cell brings all of them to their points and kills
// itself with a real SIGKILL; another cell, without knowledge of it, completes them.
import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import type { TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { statusOf, type Status } from '../../apps/cloud/src/domain/vm-status.ts'
import { operationNamed, operations } from '../../apps/cloud/src/operations/vm-operations.ts'
import type { Operation } from '../../apps/cloud/src/tasks/operation.ts'
import { submitTask } from '../../apps/cloud/src/tasks/submit-task.ts'
import { inputOf } from '../../apps/cloud/test/make-offered.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

const PROGRAM = join(import.meta.dirname, '../../apps/cloud/test/crashing-cell.ts')
const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false

interface Case {
  readonly operation: Operation
  readonly status: Status
  readonly step: string
  readonly when: 'before' | 'after'
}

const cases: readonly Case[] = operations.flatMap((operation) =>
  operation.from.flatMap((status) =>
    operation.steps.flatMap(({ name: step }) =>
      (['before', 'after'] as const).map((when) => ({ operation, status, step, when })),
    ),
  ),
)

/** The operations that lead to a status. A VM whose creation failed, or that was deleted, is on no host. */
const ways: Readonly<Partial<Record<Status, readonly string[]>>> = {
  POWERED_OFF: ['create'],
  POWERED_ON: ['create', 'powerOn'],
  SUSPENDED: ['create', 'powerOn', 'suspend'],
}

/** A revert needs a snapshot: of a running guest, or of one that is off. */
const otherWays: Readonly<Record<string, typeof ways>> = {
  revertToRunning: {
    POWERED_ON: ['create', 'powerOn', 'createSnapshot'],
    POWERED_OFF: ['create', 'powerOn', 'createSnapshot', 'powerOff'],
  },
  revertToStopped: {
    POWERED_ON: ['create', 'createSnapshot', 'powerOn'],
    POWERED_OFF: ['create', 'createSnapshot'],
  },
}

test(
  'a cell killed before and after every step of every operation: another one ends all of it',
  { skip, timeout: 900_000 },
  async (t) => {
    // Few enough that the limit of a cell per host is not reached: all of them are held at their points together.
    await using cloud = await startSmallCloud({ cells: 1, hosts: 4 })
    await untilOpen(cloud.db, 4)
    const vms = await prepare(cloud)
    const [cell] = cloud.cells
    assert.ok(cell)
    await cell.kill9()
    const tasks = await ask(cloud, vms)

    await using dir = await mkdtempDisposable(join(tmpdir(), 'skerry-crashes-'))
    const report = join(dir.path, 'report')
    await cell.start(PROGRAM, report, String(cases.length))
    const deadline = AbortSignal.timeout(300_000)
    const late = new Promise<never>((_, reject) =>
      deadline.addEventListener('abort', async () =>
        reject(new Error(`not all reached their points: ${await readFile(cell.log, 'utf8')}`)),
      ),
    )
    assert.equal(await Promise.race([cell.died(), late]), 'SIGKILL')
    await assertKilledThere(cloud, { vms, tasks, report })

    await cloud.addCell()
    const up = Date.now()
    const left = () =>
      cloud.db.selectFrom('task').select('id').where('ended_at', 'is', null).execute()
    await until('the other cell ends them', async () => (await left()).length === 0, 180_000)
    for (const line of await slowest(cloud, tasks, up)) t.diagnostic(line)
    // A worker that ended a task looks for the next, and then releases the queue.
    const held = () =>
      cloud.db.selectFrom('vm').select('id').where('holder', 'is not', null).execute()
    await until('no queue is held', async () => (await held()).length === 0, 30_000)
    for (const [at, each] of cases.entries()) {
      await assertWhole(cloud, each, vms[at] as VmId, tasks[at] as TaskId)
    }
    await assertNothingOver(cloud, vms)
  },
)

/** One VM for each case, brought to its state by its own tasks. */
async function prepare({ db }: SmallCloud): Promise<readonly VmId[]> {
  const vms = await db.transaction().execute(async (tx) => {
    const vdc = await tx.selectFrom('vdc').selectAll().executeTakeFirstOrThrow()
    const { image } = await tx.selectFrom('template').selectAll().executeTakeFirstOrThrow()
    const { org } = vdc
    const { id: vapp } = await tx
      .insertInto('vapp')
      .values({ org, vdc: vdc.id, name: 'crashes', owner: 'alice' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const sizes = { cpus: 1, memory_mib: 64, disk_mib: 64 }
    const rows = cases.map(({ when, step, operation, status }) => ({
      org,
      vapp,
      image,
      ...sizes,
      name: `${when} ${step} ${operation.name} ${status}`,
      status: status in ways ? ('UNRESOLVED' as const) : status,
    }))
    const made = await tx.insertInto('vm').values(rows).returning(['id', 'name']).execute()
    return rows.map(({ name }) => made.find((each) => each.name === name)?.id as VmId)
  })
  for (const [at, { operation, status }] of cases.entries()) {
    for (const name of otherWays[operation.name]?.[status] ?? ways[status] ?? []) {
      await db
        .transaction()
        .execute((tx) =>
          submitTask(tx, operationNamed(name), { vm: vms[at] as VmId, owner: 'alice' }),
        )
    }
  }
  const left = () => db.selectFrom('task').select('id').where('ended_at', 'is', null).execute()
  await until('all are prepared', async () => (await left()).length === 0, 300_000)
  // A copy needs a VM that is off from first to last.
  const still = cases.findIndex(
    ({ operation, step, when }) =>
      operation.name === 'reconfigureVm' && step === 'reserve' && when === 'before',
  )
  await db
    .updateTable('vm')
    .set({ source: vms[still] as VmId })
    .where('name', 'like', '% clone UNRESOLVED')
    .execute()
  const now = await db.selectFrom('vm').select(['id', 'status']).execute()
  for (const [at, { status }] of cases.entries()) {
    assert.equal(now.find(({ id }) => id === vms[at])?.status, status)
  }
  return vms
}

async function ask({ db }: SmallCloud, vms: readonly VmId[]): Promise<readonly TaskId[]> {
  const tasks: TaskId[] = []
  for (const [at, { operation }] of cases.entries()) {
    const { id } = await db.transaction().execute((tx) =>
      submitTask(tx, operation, {
        vm: vms[at] as VmId,
        owner: 'alice',
        input: inputOf(operation),
      }),
    )
    tasks.push(id)
  }
  return tasks
}

/** Every one of them was at its step when the cell died, and none had ended. */
async function assertKilledThere(
  { db }: SmallCloud,
  {
    vms,
    tasks,
    report,
  }: { readonly vms: readonly VmId[]; readonly tasks: readonly TaskId[]; readonly report: string },
): Promise<void> {
  const lines = (await readFile(report, 'utf8')).trim().split('\n')
  const there = new Map(lines.map((line) => [(JSON.parse(line) as { vm: VmId }).vm, line]))
  for (const [at, { operation, step, when }] of cases.entries()) {
    const vm = vms[at] as VmId
    assert.equal(there.get(vm), JSON.stringify({ vm, operation: operation.name, step, when }))
  }
  const rows = await db
    .selectFrom('task')
    .select(['id', 'state'])
    .where('id', 'in', tasks)
    .execute()
  assert.equal(rows.length, cases.length)
  for (const { state } of rows) assert.equal(state, 'running')
}

/** The time from the start of the other cell to the end of the first and of the last of them. */
async function slowest({ db }: SmallCloud, tasks: readonly TaskId[], up: number) {
  const rows = await db
    .selectFrom('task')
    .select(['id', 'ended_at'])
    .where('id', 'in', tasks)
    .orderBy('ended_at')
    .execute()
  const ends = rows.map(({ id, ended_at }) => {
    const { operation, status, step, when } = cases[tasks.indexOf(id)] as Case
    const ms = (ended_at?.getTime() ?? 0) - up
    return `${operation.name} from ${status}, killed ${when} ${step}: ended after ${ms} ms`
  })
  return [`${cases.length} cases`, ends[0] ?? '', ...ends.slice(-4)]
}

/** It ended once with success, and the hosts have what is recorded. */
async function assertWhole({ db, hosts }: SmallCloud, each: Case, vm: VmId, task: TaskId) {
  const { operation, status, step, when } = each
  const name = `${operation.name} from ${status}, killed ${when} ${step}`
  const row = await db.selectFrom('vm').selectAll().where('id', '=', vm).executeTakeFirstOrThrow()
  const events = await db
    .selectFrom('event')
    .select('kind')
    .where('task', '=', task)
    .orderBy('seq')
    .execute()
  // Its wait reason may be reported meanwhile.
  const kinds = events.map(({ kind }) => kind).filter((kind) => kind !== 'task.waiting')
  assert.deepEqual(kinds, ['task.queued', 'task.running', 'task.success'], name)
  const real = hosts.flatMap((host) => {
    const found = host.find(vm)
    return found ? [{ host: host.id, found }] : []
  })
  const there = row.host !== null && row.deleted_at === null
  assert.equal(real.length, there ? 1 : 0, name)
  for (const { host, found } of real) {
    const { displayed_status: shown, incarnation } = row
    assert.deepEqual(
      [row.host, shown, incarnation],
      [host, statusOf[found.power], found.incarnation],
      name,
    )
  }
  if (operation.name === 'delete') assert.ok(row.deleted_at !== null, name)
  else assert.equal(row.status, operation.to ?? status, name)
  assert.deepEqual([row.holder, row.projected_status], [null, row.status], name)
}

/** No step was executed twice, no undo is pending, and the counted capacity matches the placed VMs. */
async function assertNothingOver({ db, hosts }: SmallCloud, vms: readonly VmId[]): Promise<void> {
  const done = hosts.flatMap((host) => host.done)
  assert.equal(new Set(done).size, done.length)
  for (const host of hosts) {
    for await (const { vm } of host.records()) assert.ok(vms.includes(vm))
  }
  // A placement that continues just after its host's hello is pending until the reconciler's pass after next.
  const owed = () => db.selectFrom('pending_undo').selectAll().execute()
  await until('nothing is owed', async () => (await owed()).length === 0, 90_000)
  const { rows } = await sql<{ counted: number; placed: number }>`
    select placed_memory_mib as counted, (select coalesce(sum(memory_mib), 0)::integer from vm
      where vm.host = host.id and vm.deleted_at is null) as placed from host`.execute(db)
  for (const { counted, placed } of rows) assert.equal(counted, placed)
}
