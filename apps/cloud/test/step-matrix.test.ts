// Goal: whichever fault happens at whichever step, nothing is left over or duplicated, and the task ends once.
// Method: every step of every operation, from every status it may begin at, with a fault injected around the step; real Postgres, a
// simulated host that is followed, and the same carryOut and Activities that Temporal runs. The product has no injection points.
// A crash is a run that is abandoned: another one claims the task again, and knows nothing of the first.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault, retryableKinds } from '@skerry/fault'
import type { HostApi } from '@skerry/host-api'
import { type Postgres } from '@skerry/lab'
import { simulatedHost, type SimulatedHost } from '@skerry/lab/simulated-host'
import type { PowerState, TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { begins } from '../src/domain/task-kind.ts'
import { statusOf, type Status } from '../src/domain/vm-status.ts'
import { carryOut, type TaskActivities } from '../src/durable/carry-out.ts'
import { keepSeed } from '../src/inventory/guest-seeds.ts'
import type { VmRow } from '../src/inventory/vms.ts'
import { operations } from '../src/operations/vm-operations.ts'
import type { ClaimReason } from '../src/tasks/claim-task.ts'
import type { StepContext, Operation, Step } from '../src/tasks/operation.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { Activities } from '../src/worker/activities.ts'
import { CutHost, followed, vmAt, type Followed } from './away-host.ts'
import {
  openCloudDatabase,
  seal,
  startDatabases,
  taskOf,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'
import { inputOf, makeOffered } from './make-offered.ts'

class Crash extends Error {}

/** How a fault may wrap a step. */
interface Hands {
  /** The fault has happened. */
  fire(): void
  leave(): Promise<void>
}

type Breaks = (step: Step, hands: Hands) => Step

const broken = (step: Step) => new Fault('invalid', `broken at ${step.name}`)
const failing = (step: Step, hands: Hands) => async () => {
  hands.fire()
  throw broken(step)
}
/** The first time only: the run after a crash works normally. */
const onceOnly = (work: () => void): (() => void) => {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}
const crash = (hands: Hands) =>
  onceOnly(() => {
    hands.fire()
    throw new Crash()
  })
const undoing = (step: Step, around: (undo: () => Promise<void>) => Promise<void>): Step => {
  const { undo } = step
  return typeof undo === 'function' ? { ...step, undo: (at) => around(() => undo(at)) } : step
}

const faults: Readonly<Record<string, Breaks>> = {
  'error before': (step, hands) => ({ ...step, run: failing(step, hands) }),
  'done, then error': (step, hands) => ({
    ...step,
    async run(at) {
      await step.run(at)
      await failing(step, hands)()
    },
  }),
  'run twice': (step, hands) => ({
    ...step,
    async run(at) {
      await step.run(at)
      hands.fire()
      await step.run(at)
    },
  }),
  'answer lost': (step, hands) => {
    const lose = onceOnly(() => {
      hands.fire()
      throw new Fault('unavailable', 'the link broke')
    })
    return { ...step, run: (at) => step.run({ ...at, host: () => losing(at.host(), lose) }) }
  },
  'undo twice': (step, hands) =>
    undoing({ ...step, run: failing(step, hands) }, async (undo) => {
      await undo()
      await undo()
    }),
  'canceled after it': (step, hands) => ({
    ...step,
    async run(at) {
      await step.run(at)
      hands.fire()
      await at.context.db
        .updateTable('task')
        .set({ cancel_requested: true })
        .where('id', '=', at.task.id)
        .execute()
    },
  }),
  'done, then error, host away at undo': (step, hands) => ({
    ...step,
    async run(at) {
      await step.run(at)
      await hands.leave()
      await failing(step, hands)()
    },
  }),
  'crash before': (step, hands) => {
    const now = crash(hands)
    return { ...step, run: async (at) => (now(), step.run(at)) }
  },
  'crash after': (step, hands) => {
    const now = crash(hands)
    return { ...step, run: async (at) => step.run(at).then(now) }
  },
  'error, crash before undo': (step, hands) => {
    const now = crash(hands)
    return undoing({ ...step, run: failing(step, hands) }, async (undo) => (now(), undo()))
  },
  'done, then error, crash after undo': (step, hands) => {
    const now = crash(hands)
    const run = async (at: StepContext) => step.run(at).then(failing(step, hands))
    return undoing({ ...step, run }, async (undo) => undo().then(now))
  },
}

/** The host has executed the step, but its response is lost. */
const losing = (host: HostApi, lose: () => void): HostApi => ({
  ...host,
  async step(order, goal, signal, progress) {
    const report = await host.step(order, goal, signal, progress)
    lose()
    return report
  },
})

const powerOf: Readonly<Partial<Record<Status, PowerState>>> = {
  POWERED_OFF: 'off',
  POWERED_ON: 'on',
  SUSPENDED: 'suspended',
}

interface Case {
  readonly operation: Operation
  readonly status: Status
  readonly step: Step
  readonly fault: string
}

const cases: readonly Case[] = operations.flatMap((operation) =>
  operation.from.flatMap((status) =>
    operation.steps.flatMap((step) =>
      Object.keys(faults).flatMap((fault) => {
        const named = { operation, status, step, fault }
        return applies(named) ? [named] : []
      }),
    ),
  ),
)

/** A response can be lost only if the step calls a host, and an undo can fail only if there is one. */
function applies({ step, fault, status, operation }: Case): boolean {
  if (fault === 'answer lost') {
    return !step.rows && (begins(operation.kind) || status in powerOf)
  }
  return !/undo$|^undo/.test(fault) || typeof step.undo === 'function'
}

let postgres: Postgres
let cloud: CloudDatabase
let host: SimulatedHost
let link: CutHost
let following: Followed
const vmOfCase = new Map<Case, VmId>()

before(async () => {
  postgres = await startDatabases()
  cloud = await openCloudDatabase(postgres)
  for (const each of cases) {
    const { vms } = await cloud.addVms(1, each.status)
    vmOfCase.set(each, vms[0] as VmId)
  }
  // A VM that was not created, or was deleted, is on no host.
  await cloud.db
    .updateTable('vm')
    .set({ host: null })
    .where('status', 'in', ['FAILED_CREATION', 'RESOLVED'])
    .execute()
  const { vms: sources } = await cloud.addVms(1, 'POWERED_OFF')
  const [source] = sources as [VmId]
  const copies = [...vmOfCase].filter(([{ operation }]) => operation.kind === 'copy')
  for (const [, id] of copies) {
    await cloud.db.updateTable('vm').set({ source }).where('id', '=', id).execute()
  }
  const rows: VmRow[] = []
  for (const [{ operation }, id] of vmOfCase) rows.push(await makeOffered(cloud.db, id, operation))
  const placed = rows.flatMap(({ id, status, nested }) => {
    const power = powerOf[status]
    return power === undefined ? [] : [{ ...vmAt(id, power), nested }]
  })
  // Half of the created VMs have cloud-init data.
  const seeded = [...vmOfCase].filter(
    ([{ operation }], at) => operation.kind === 'create' && at % 2,
  )
  for (const [, id] of seeded) {
    const vm = { org: cloud.principal.org, id, name: 'told' }
    await cloud.as(cloud.principal, (tx) => keepSeed(tx, vm, { userData: '#cloud-config' }, seal))
  }
  host = simulatedHost({ vms: [...placed, vmAt(source, 'off')] })
  for (const { id, snapshot, snapshot_on } of rows) {
    if (snapshot !== null) host.keepSnapshot(id, snapshot, snapshot_on)
  }
  link = new CutHost(host)
  following = await followed(cloud.db, cloud.host, link)
})
after(async () => {
  await following[Symbol.asyncDispose]()
  await cloud[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

for (const each of cases) {
  const { operation, status, step, fault } = each
  test(`${operation.name} from ${status}, ${step.name}: ${fault}`, async () => {
    const vm = vmOfCase.get(each) as VmId
    const { id } = await cloud.as(cloud.principal, (tx) =>
      submitTask(tx, operation, { vm, owner: 'alice', input: inputOf(operation) }),
    )
    const { fired, crashed } = await runBroken(each, vm, id)
    assert.ok(fired > 0, 'the fault happened')
    assert.equal(crashed, fault.includes('crash') ? 1 : 0)
    const task = await taskOf(cloud.db, id)
    assert.deepEqual([task.state, task.message], endOf(each))
    await following.comeBack()
    await assertWhole(each, vm)
    const events = await cloud.db
      .selectFrom('event')
      .select('kind')
      .where('task', '=', id)
      .orderBy('seq')
      .execute()
    const kinds = events.map(({ kind }) => kind)
    assert.deepEqual(kinds, ['task.queued', 'task.running', `task.${task.state}`], 'it ended once')
  })
}

test('no cloud-init data remains stored', async () => {
  assert.deepEqual(await cloud.db.selectFrom('guest_seed').selectAll().execute(), [])
})

test('no step was executed twice, and the counted capacity matches the placed VMs', async () => {
  assert.equal(new Set(host.done).size, host.done.length)
  const placed = await cloud.db
    .selectFrom('vm')
    .select(sql<number>`coalesce(sum(memory_mib), 0)::integer`.as('memory'))
    .select(sql<number>`coalesce(sum(stored_mib), 0)::integer`.as('disk'))
    .where('host', '=', cloud.host)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  const row = await cloud.db.selectFrom('host').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([row.placed_memory_mib, row.placed_disk_mib], [placed.memory, placed.disk])
  console.log(`${cases.length} cases`)
})

async function runBroken({ operation, step, fault }: Case, vm: VmId, id: TaskId) {
  let fired = 0
  let crashed = 0
  const hands = { fire: () => (fired += 1), leave: () => following.goAway() }
  const wrong = faults[fault]?.(step, hands) ?? step
  const steps = operation.steps.map((one) => (one === step ? wrong : one))
  for (let run = 1; run <= 3; run += 1) {
    const activities = new Activities(
      { db: cloud.db, hosts: () => link.api, wake: () => undefined, seal },
      [{ ...operation, steps }],
      { perHost: 100, perOrg: 100 },
      () => ({ signal: new AbortController().signal }),
    )
    const verbs = retried(activities)
    try {
      const holder = `${vm}/${run}`
      for (let more = true; more;) {
        const plan = await activities.claimTask(vm, holder)
        more = plan !== undefined && (await carryOut(plan, () => verbs, reasonOf))
      }
      if ((await taskOf(cloud.db, id)).ended_at !== null) return { fired, crashed }
      // On a busy machine the host's session breaks and is opened again: the sweep wakes the queue then.
      await following.comeBack()
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      crashed += 1
      await cloud.db
        .updateTable('vm')
        .set({ lease_until: sql`clock_timestamp() - interval '1 s'` })
        .where('id', '=', vm)
        .execute()
    }
  }
  throw new Error('it does not come to its end')
}

/** Retries retryable faults, as Temporal does. */
function retried({ runStep, undoStep, turnBack, endTask }: TaskActivities): TaskActivities {
  const again =
    <Args extends unknown[], T>(verb: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      try {
        return await verb(...args)
      } catch (error) {
        if (!(error instanceof Fault) || !retryableKinds.has(error.kind)) throw error
        return verb(...args)
      }
    }
  return {
    runStep: again(runStep),
    undoStep: again(undoStep),
    turnBack: again(turnBack),
    endTask: again(endTask),
  }
}

function reasonOf(error: unknown): ClaimReason | 'stale' {
  if (!(error instanceof Fault)) throw error
  return error.kind === 'stale' ? 'stale' : { kind: error.kind, message: error.message }
}

function endOf({ operation, step, fault }: Case): [string, string | null] {
  const at = operation.steps.indexOf(step)
  const names = operation.steps.map(({ name }) => name)
  const noReturn = operation.noReturn === undefined ? -1 : names.indexOf(operation.noReturn)
  const tooLate = at === names.length - 1 || (noReturn >= 0 && at >= noReturn)
  if (fault === 'canceled after it' && !tooLate) return ['canceled', 'the task was canceled']
  return /error|undo/.test(fault) ? ['error', `broken at ${step.name}`] : ['success', null]
}

async function assertWhole({ operation, status, fault }: Case, vm: VmId): Promise<void> {
  const row = await vmOf(cloud.db, vm)
  const real = host.find(vm)
  const there = row.host !== null && row.deleted_at === null
  assert.equal(real !== undefined, there, 'the host has exactly the VMs that are recorded')
  if (!real) assert.equal(row.displayed_status, row.status, 'a VM without a host is not UNKNOWN')
  else {
    assert.deepEqual(
      [row.displayed_status, row.incarnation],
      [statusOf[real.power], real.incarnation],
    )
    assert.deepEqual(
      [row.cpus, row.memory_mib, row.disk_mib, row.sizes_before, row.nested],
      [real.cpus, real.memoryMiB, real.diskMiB, null, real.nested],
    )
  }
  const { state } = await cloud.db
    .selectFrom('task')
    .select('state')
    .where('vm', '=', vm)
    .executeTakeFirstOrThrow()
  const undone = operation.steps.every(
    ({ undo, name }) => name === 'image' || typeof undo === 'function',
  )
  if (state === 'success')
    assert.ok(row.deleted_at !== null || row.status === (operation.to ?? status))
  else if (undone) {
    const left = status === 'UNRESOLVED' ? 'FAILED_CREATION' : status
    assert.deepEqual([row.status, row.host !== null], [left, status !== 'UNRESOLVED'], fault)
  }
  assert.equal(row.projected_status, row.status, 'nothing remains requested')
  assert.deepEqual([row.taking_mib, row.saving_mib], [0, 0], 'nothing stays reserved')
  assert.equal(row.snapshot_mib > 0, row.snapshot !== null, 'a snapshot counts')
  const isTold = there && row.computer_name !== null
  assert.equal(host.seedOf(vm)?.userData !== undefined && there, isTold)
  assert.deepEqual([row.holder, row.closed], [null, row.deleted_at !== null])
  const pending = await cloud.db
    .selectFrom('pending_undo')
    .selectAll()
    .where('vm', '=', vm)
    .execute()
  assert.deepEqual(pending, [], 'every pending undo was executed')
}
