// Goal: one request acts on as many VMs as the caller saw, and says for each what became of it. Method: a real HTTP server and a real
// Postgres without workers; the ends of tasks are the statements of a worker.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import { until } from '@skerry/lab'
import type { OrgId, TaskId, VmId } from '@skerry/vm'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import type { Status } from '../src/domain/vm-status.ts'
import { bulkOperations } from '../src/operations/vapp-operations.ts'
import { claimTask, type ClaimRules } from '../src/tasks/claim-task.ts'
import { endTask } from '../src/tasks/end-task.ts'
import { BULK_VMS_MAX } from '../src/tasks/submit-bulk.ts'
import { DIGEST, taskOf, vmOf } from './cloud-database.ts'
import {
  find,
  hrefOf,
  linksOf,
  openTenantsApi,
  pathOf,
  read,
  type Answered,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())
// Each test has the VMs that it adds, and no others.
beforeEach(() => sql`update vm set deleted_at = clock_timestamp()`.execute(api.cloud.db))

const rules: ClaimRules = { perHost: 100, perOrg: 100, within: () => 300 }
const JSON_TYPE = { accept: 'application/*+json;version=5.1' }

interface Bulk {
  readonly filter?: string
  readonly expect?: number | string
  readonly type?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (action: string, { filter, expect, type = 'vm', token, headers }: Bulk = {}) => {
  const query = new URLSearchParams({
    type,
    ...(filter !== undefined && { filter }),
    ...(expect !== undefined && { expect: String(expect) }),
  })
  return api.ask('POST', `/api/query/action/${action}?${query.toString()}`, {
    token: token ?? api.eng.token,
    ...(headers && { headers }),
  })
}

const idOf = (answer: Answered): TaskId => hrefOf(read(answer, 202)).slice(-36) as TaskId
const childrenOf = (parent: TaskId) =>
  api.cloud.db.selectFrom('task').selectAll().where('parent', '=', parent).orderBy('id').execute()
const countTasks = async (): Promise<number> => {
  const { rows } = await sql<{
    n: number
  }>`select count(*)::integer as n from task`.execute(api.cloud.db)
  return rows[0]?.n ?? 0
}
const add = async (count: number, status: Status): Promise<readonly VmId[]> =>
  (await api.cloud.addVms(count, status)).vms

/** Many VMs in one statement. */
async function addMany(count: number): Promise<void> {
  const { vapp } = await api.cloud.addVms(1)
  // On no host: the sums of a host are updated for every VM.
  await api.cloud.asOwner(async (db) => {
    await sql`insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib, status)
      select vm.org, vm.vapp, 'many-' || n, ${DIGEST}, 1, 64, 64, 'POWERED_OFF'
      from vm, generate_series(2, ${count}) n where vm.vapp = ${vapp}`.execute(db)
    await sql`analyze vm`.execute(db)
  })
}

/** A worker claims and ends the task at the head of the VM's queue. */
async function workOff(vm: VmId): Promise<readonly VmId[]> {
  const claimed = await claimTask(api.cloud.db, vm, 'run-1', rules)
  assert.ok(claimed)
  const { others } = await endTask(api.cloud.db, { task: claimed.task.id, fence: claimed.fence })
  return others
}

test('one task with a child for each VM; a VM that cannot take the action fails with the reason, and stops no other', async () => {
  const off = await add(3, 'POWERED_OFF')
  const [on] = (await add(1, 'POWERED_ON')) as [VmId]
  const document = read(await ask('suspend', { expect: 4 }), 202)
  assert.equal(attribute(document, 'operation'), 'Suspending 4 VMs')
  assert.equal(attribute(find(document, 'Owner')[0], 'name'), '4 VMs')
  const id = hrefOf(document).slice(-36) as TaskId
  const children = await childrenOf(id)
  assert.equal(children.length, 4)
  const [open] = children.filter(({ state }) => state === 'queued')
  assert.equal(open?.vm, on)
  for (const vm of off) {
    const child = children.find((each) => each.vm === vm)
    assert.equal(child?.state, 'error')
    assert.match(child.message ?? '', /^VM vm-\d is POWERED_OFF; suspend needs POWERED_ON$/)
    assert.equal((await vmOf(api.cloud.db, vm)).queue_length, 0, 'its queue is as it was')
  }
  assert.equal((await taskOf(api.cloud.db, id)).progress, 75)
  await workOff(on)
  const { token } = api.eng
  const ended = read(await api.ask('GET', `/api/task/${id}`, { token }))
  assert.equal(attribute(ended, 'status'), 'error')
  const [error] = find(ended, 'Error')
  assert.match(
    attribute(error, 'message') ?? '',
    /^3 of 4 VMs failed, the first because VM vm-\d is/,
  )
  const list = pathOf(linksOf(ended)['down'] ?? '')
  const records = find(read(await api.ask('GET', list, { token })), 'TaskRecord')
  assert.deepEqual(records.map((each) => attribute(each, 'status') ?? '').toSorted(), [
    'error',
    'error',
    'error',
    'success',
  ])
  const failed = records.find((each) => attribute(each, 'status') === 'error')
  assert.match(attribute(failed, 'message') ?? '', /needs POWERED_ON/)
  assert.match(attribute(failed, 'parent') ?? '', new RegExp(`/api/task/${id}$`))
  const inJson = await api.ask('GET', list, { token, headers: JSON_TYPE })
  assert.equal(inJson.text.split('suspend needs POWERED_ON').length - 1, 3, inJson.text)
})

test('if another number of VMs matches, both numbers are reported and nothing is changed', async () => {
  await add(3, 'POWERED_OFF')
  const earlier = await countTasks()
  const answer = await ask('powerOn', { expect: 2, filter: 'status==POWERED_OFF' })
  assert.equal(answer.status, 409)
  assert.match(answer.text, /matches 3 VMs, but expect is 2.*expect=3/s)
  for (const bad of [
    { expect: 'many' },
    {},
    { expect: 3, type: 'vApp' },
    { expect: 3, type: 'adminVM' },
    { expect: 3, filter: 'unknown==1' },
  ]) {
    assert.equal((await ask('powerOn', bad)).status, 400, JSON.stringify(bad))
  }
  for (const action of ['createSnapshot', 'instantiate', 'hold', 'toString', '']) {
    assert.equal((await ask(action, { expect: 3 })).status, 404, action)
  }
  assert.equal(await countTasks(), earlier)
  const none = await taskOf(
    api.cloud.db,
    idOf(await ask('powerOn', { expect: 0, filter: 'name==x' })),
  )
  assert.equal(none.state, 'success')
})

test('a filter reaches no VM of another organisation, also for a system administrator', async () => {
  const own = await add(2, 'POWERED_OFF')
  const filter = own.map((vm) => `id==${vm}`).join(',')
  const others = await api.enter(api.ops.org, 'organisation administrator')
  const system = await api.enter(api.ops.org, 'system administrator')
  for (const token of [others, system]) {
    const answer = await ask('powerOn', { expect: 2, filter, token })
    assert.equal(answer.status, 409, answer.text)
    assert.match(answer.text, /matches 0 VMs/)
    assert.equal((await ask('powerOn', { expect: 2, token })).status, 409)
  }
  assert.deepEqual(
    await Promise.all(own.map(async (vm) => (await vmOf(api.cloud.db, vm)).queue_length)),
    [0, 0],
  )
  const id = idOf(await ask('powerOn', { expect: 2, filter }))
  assert.equal((await api.ask('GET', `/api/task/${id}`, { token: others })).status, 404)
})

test('every action needs the right of its operation', async () => {
  await add(1, 'POWERED_OFF')
  const viewer = await api.enter(api.eng.org, 'console only')
  const user = await api.enter(api.eng.org, 'user')
  for (const [name, { permission, takes }] of bulkOperations) {
    assert.equal(takes, undefined, `${name} would need a document`)
    assert.equal((await ask(name, { expect: 5, token: viewer })).status, 403, name)
    const allowed = permission === 'vm:power'
    assert.equal((await ask(name, { expect: 5, token: user })).status, allowed ? 409 : 403, name)
  }
  assert.deepEqual([...bulkOperations.keys()].toSorted(), [
    'delete',
    'discardSuspendedState',
    'powerOff',
    'powerOn',
    'reboot',
    'removeAllSnapshots',
    'reset',
    'shutdown',
    'suspend',
  ])
})

test('the same key returns the same task, also when the filter matches no VM any more; with another filter it is rejected', async () => {
  await add(2, 'POWERED_OFF')
  const filter = 'status==POWERED_OFF'
  const headers = { 'idempotency-key': 'bulk-1' }
  const first = idOf(await ask('powerOn', { expect: 2, filter, headers }))
  await sql`update vm set status = 'POWERED_ON' where deleted_at is null`.execute(api.cloud.db)
  const again = await Promise.all(
    Array.from({ length: 5 }, () => ask('powerOn', { expect: 2, filter, headers })),
  )
  assert.deepEqual(new Set(again.map(idOf)), new Set([first]))
  assert.equal((await childrenOf(first)).length, 2)
  const other = await ask('powerOn', { expect: 2, filter: 'status==POWERED_ON', headers })
  assert.equal(other.status, 409)
  assert.match(other.text, /was used for a different request/)
})

test('ten requests at once over the same VMs: each is queued behind the others on every VM, and none fails', async () => {
  const vms = await add(20, 'POWERED_OFF')
  const ids = await Promise.all(
    Array.from({ length: 10 }, async () => idOf(await ask('powerOn', { expect: 20 }))),
  )
  for (const id of ids) assert.equal((await childrenOf(id)).length, 20)
  for (const vm of vms) assert.equal((await vmOf(api.cloud.db, vm)).queue_length, 10)
  // Cancels and ends of all of them at the same moment lock the same rows.
  const { token } = api.eng
  const cancels = ids.slice(5).map(async (id) => {
    const { status } = await api.ask('POST', `/api/task/${id}/action/cancel`, { token })
    assert.equal(status, 204)
  })
  const worker = async (some: readonly VmId[]) => {
    for (const vm of some) await workOff(vm)
  }
  await Promise.all([...cancels, worker(vms.slice(0, 10)), worker(vms.slice(10))])
  for (const id of ids.slice(5)) {
    const { state, message } = await taskOf(api.cloud.db, id)
    assert.ok(
      state === 'canceled' || state === 'success' || state === 'running',
      `${state} ${message}`,
    )
  }
})

test('a VM that vanishes or stops matching before its lock is taken stops the whole request', async () => {
  const [gone, ...kept] = (await add(3, 'POWERED_OFF')) as [VmId, ...VmId[]]
  for (const change of [
    sql`update vm set deleted_at = clock_timestamp() where id = ${gone}`,
    sql`update vm set status = 'POWERED_ON' where id = ${kept[0]}`,
  ]) {
    const expect = await total()
    const pending = await api.cloud.db.transaction().execute(async (tx) => {
      await change.execute(tx)
      const sent = ask('powerOn', { expect, filter: 'status==POWERED_OFF' })
      await until('the request waits for the lock', async () => (await waiting()) === 1)
      return { sent }
    })
    const answer = await pending.sent
    assert.equal(answer.status, 409, answer.text)
    assert.match(answer.text, new RegExp(`matches ${expect - 1} VMs, but expect is ${expect}`))
  }
  assert.equal((await vmOf(api.cloud.db, kept[1] as VmId)).queue_length, 0)
})

async function total(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from vm
    where deleted_at is null and displayed_status = 'POWERED_OFF'`.execute(api.cloud.db)
  return rows[0]?.n ?? 0
}

async function waiting(): Promise<number> {
  const { rows } = await api.cloud.asOwner((db) =>
    sql<{ n: number }>`select count(*)::integer as n from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%for no key update of r%'`.execute(db),
  )
  return rows[0]?.n ?? 0
}

test('the quota is used up in order; the VMs beyond it fail with the reason', async () => {
  await add(5, 'POWERED_OFF')
  const { org } = api.eng
  await withQuota(org, async () => {
    const children = await childrenOf(idOf(await ask('powerOn', { expect: 5 })))
    assert.deepEqual(children.map(({ state }) => state).toSorted(), [
      'error',
      'error',
      'error',
      'queued',
      'queued',
    ])
    const refused = children.find(({ state }) => state === 'error')
    assert.match(refused?.message ?? '', /quota exceeded: the organisation may have 2 running VMs/)
    const all = await taskOf(
      api.cloud.db,
      idOf(await ask('powerOn', { expect: 5, filter: '(name==vm-*)' })),
    )
    assert.equal(all.state, 'running', 'those that start already need no more')
  })
})

async function withQuota(org: OrgId, work: () => Promise<void>): Promise<void> {
  const { db } = api.cloud
  await db.insertInto('quota').values({ org, running_vms: 2 }).execute()
  try {
    await work()
  } finally {
    await db.deleteFrom('quota').where('org', '=', org).execute()
  }
}

test('cancel ends the queued children at once, and the VMs take requests as before', async () => {
  const vms = await add(3, 'POWERED_OFF')
  const id = idOf(await ask('delete', { expect: 3 }))
  assert.equal((await vmOf(api.cloud.db, vms[0] as VmId)).closed, true)
  const { token } = api.eng
  const cancel = () => api.ask('POST', `/api/task/${id}/action/cancel`, { token })
  assert.equal((await cancel()).status, 204)
  const { state, message } = await taskOf(api.cloud.db, id)
  assert.deepEqual([state, message], ['canceled', 'canceled for 3 of 3 VMs'])
  assert.equal((await cancel()).status, 204, 'it has ended: nothing to cancel')
  for (const vm of vms) {
    const { closed, projected_status: status } = await vmOf(api.cloud.db, vm)
    assert.deepEqual([closed, status], [false, 'POWERED_OFF'])
  }
  assert.equal((await ask('powerOn', { expect: 3 })).status, 202)
})

test('cancel lets a running child finish its rollback: the parent ends with it', async () => {
  const [first] = (await add(2, 'POWERED_OFF')) as [VmId]
  const id = idOf(await ask('powerOn', { expect: 2 }))
  const claimed = await claimTask(api.cloud.db, first, 'run-1', rules)
  assert.ok(claimed)
  const { token } = api.eng
  await api.ask('POST', `/api/task/${id}/action/cancel`, { token })
  const { state, progress } = await taskOf(api.cloud.db, id)
  assert.deepEqual([state, progress], ['running', 50])
  assert.equal((await taskOf(api.cloud.db, claimed.task.id)).cancel_requested, true)
  await endTask(api.cloud.db, { task: claimed.task.id, fence: claimed.fence })
  assert.equal((await taskOf(api.cloud.db, id)).state, 'canceled')
})

test('a child of a bulk operation is shown as a task of its vApp', async () => {
  const { vapp } = await api.cloud.addVms(1, 'POWERED_OFF')
  await ask('powerOn', { expect: 1 })
  const document = read(await api.ask('GET', `/api/vApp/vapp-${vapp}`, { token: api.eng.token }))
  assert.equal(find(document, 'Tasks', 'Task').length, 1)
})

test('more VMs than the limit are rejected in words; as many as the limit are one request', async (t) => {
  await addMany(BULK_VMS_MAX + 1)
  const more = await ask('powerOn', { expect: BULK_VMS_MAX + 1 })
  assert.equal(more.status, 400)
  assert.match(more.text, /matches more than 10000 VMs.*narrow the filter/s)
  await sql`update vm set deleted_at = clock_timestamp() where name = 'many-2'`.execute(
    api.cloud.db,
  )
  const begun = performance.now()
  const id = idOf(await ask('powerOn', { expect: BULK_VMS_MAX }))
  t.diagnostic(`${BULK_VMS_MAX} VMs: ${Math.round(performance.now() - begun)} ms`)
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from task
    where parent = ${id} and state = 'queued'`.execute(api.cloud.db)
  assert.equal(rows[0]?.n, BULK_VMS_MAX)
  const [one] = await api.cloud.db
    .selectFrom('vm')
    .select('id')
    .where('deleted_at', 'is', null)
    .limit(1)
    .execute()
  const others = await workOff(one?.id as VmId)
  assert.ok(others.length < 10, `the end of one wakes ${others.length}, not all that are left`)
  const { token } = api.eng
  const canceled = performance.now()
  assert.equal((await api.ask('POST', `/api/task/${id}/action/cancel`, { token })).status, 204)
  t.diagnostic(`cancel: ${Math.round(performance.now() - canceled)} ms`)
  assert.equal((await taskOf(api.cloud.db, id)).message, 'canceled for 9999 of 10000 VMs')
})
