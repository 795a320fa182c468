// Goal: whatever happens at whichever step, nothing is left over or doubled, and the task ends once.
// Method: every step of every operation, from every status it may begin at, with a fault put around the step; real Postgres, a
// simulated host that is followed, and the same carryOut and Activities that Temporal runs. No fault point stands in the product.
// A crash is a run that is thrown away: another one claims the task anew, and knows nothing of the first.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault, passing } from '@skerry/fault'
import type { HostApi } from '@skerry/host-api'
import { simulatedHost, type Postgres, type SimulatedHost } from '@skerry/lab'
import type { PowerState, TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { carryOut, type Verbs } from '../src/durable/carry-out.ts'
import type { At, Operation, Step } from '../src/operation.ts'
import { operations } from '../src/operations.ts'
import type { Reason } from '../src/store/claim-task.ts'
import { keepSeed } from '../src/store/guest-seeds.ts'
import { submitTask } from '../src/store/submit-task.ts'
import { statusOf, type Status } from '../src/vm-status.ts'
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

class Crash extends Error {}

/** What a fault may do to the world around a step. */
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
/** The first time only: who comes after a crash finds a whole program. */
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
      await at.world.db
        .updateTable('task')
        .set({ cancel: true })
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
    const run = async (at: At) => step.run(at).then(failing(step, hands))
    return undoing({ ...step, run }, async (undo) => undo().then(now))
  },
}

/** The host has done it, and its word does not reach us. */
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
/** What is asked for where there is something to choose. */
const inputs: Readonly<Record<string, unknown>> = {
  reconfigureVm: { cpus: 2, memoryMiB: 32, diskMiB: 128 },
}
/** Those that begin with nothing at the host. */
const makes = new Set(['create', 'clone'])
/** Steps that are rows only. */
const asksNoHost = new Set(['place', 'forget', 'reserve'])

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

/** An answer is lost only where one was asked for, and an undo fails only where there is one. */
function applies({ step, fault, status, operation }: Case): boolean {
  if (fault === 'answer lost') {
    return !asksNoHost.has(step.name) && (makes.has(operation.name) || status in powerOf)
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
  // What failed to be made, or was cleared away, is nowhere.
  await cloud.db
    .updateTable('vm')
    .set({ host: null })
    .where('status', 'in', ['FAILED_CREATION', 'RESOLVED'])
    .execute()
  const { vms: sources } = await cloud.addVms(1, 'POWERED_OFF')
  const [source] = sources as [VmId]
  const copies = [...vmOfCase].filter(([{ operation }]) => operation.name === 'clone')
  for (const [, id] of copies) {
    await cloud.db.updateTable('vm').set({ source }).where('id', '=', id).execute()
  }
  const placed = [...vmOfCase].flatMap(([{ status }, id]) => {
    const power = powerOf[status]
    return power === undefined ? [] : [vmAt(id, power)]
  })
  // Half of those that are made have something to tell their guest.
  const told = [...vmOfCase].filter(([{ operation }], at) => operation.name === 'create' && at % 2)
  for (const [, id] of told) {
    const vm = { org: cloud.who.org, id, name: 'told' }
    await cloud.as(cloud.who, (tx) => keepSeed(tx, vm, { userData: '#cloud-config' }, seal))
  }
  host = simulatedHost({ vms: [...placed, vmAt(source, 'off')] })
  for (const [{ operation }, id] of vmOfCase) {
    if (!/^revertTo|^removeAllSnapshots$/.test(operation.name)) continue
    const on = operation.name === 'revertToRunning'
    host.keepSnapshot(id, 'kept', on)
    await sql`update vm set snapshot = 'kept', snapshot_on = ${on}, snapshot_at = clock_timestamp()
      where id = ${id}`.execute(cloud.db)
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
    const { id } = await cloud.as(cloud.who, (tx) =>
      submitTask(tx, operation, { vm, owner: 'alice', input: inputs[operation.name] ?? null }),
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
    assert.deepEqual(kinds, ['task.queued', `task.${task.state}`], 'it ended once')
  })
}

test('what guests were to be told is kept by nobody', async () => {
  assert.deepEqual(await cloud.db.selectFrom('guest_seed').selectAll().execute(), [])
})

test('no step was done twice, and what is placed is what is counted', async () => {
  assert.equal(new Set(host.done).size, host.done.length)
  const placed = await cloud.db
    .selectFrom('vm')
    .select(sql<number>`coalesce(sum(memory_mib), 0)::integer`.as('memory'))
    .where('host', '=', cloud.host)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  const row = await cloud.db.selectFrom('host').selectAll().executeTakeFirstOrThrow()
  assert.equal(row.placed_memory_mib, placed.memory)
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
      { db: cloud.db, hosts: () => link.api, ring: () => undefined, seal },
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
      // On a busy machine the host's session breaks and is opened again: whoever sweeps rings then.
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

/** What passes is tried again, as Temporal does. */
function retried({ runStep, undoStep, turnBack, endTask }: Verbs): Verbs {
  const again =
    <Args extends unknown[], T>(verb: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      try {
        return await verb(...args)
      } catch (error) {
        if (!(error instanceof Fault) || !passing.has(error.kind)) throw error
        return verb(...args)
      }
    }
  return {
    ...{ runStep: again(runStep), undoStep: again(undoStep) },
    ...{ turnBack: again(turnBack), endTask: again(endTask) },
  }
}

function reasonOf(error: unknown): Reason | 'stale' {
  if (!(error instanceof Fault)) throw error
  return error.kind === 'stale' ? 'stale' : { kind: error.kind, message: error.message }
}

function endOf({ operation, step, fault }: Case): [string, string | null] {
  const at = operation.steps.indexOf(step)
  const names = operation.steps.map(({ name }) => name)
  const noReturn = operation.noReturn === undefined ? -1 : names.indexOf(operation.noReturn)
  const tooLate = at === names.length - 1 || (noReturn >= 0 && at >= noReturn)
  if (fault === 'canceled after it' && !tooLate) return ['canceled', 'it was asked to stop']
  return /error|undo/.test(fault) ? ['error', `broken at ${step.name}`] : ['success', null]
}

async function assertWhole({ operation, status, fault }: Case, vm: VmId): Promise<void> {
  const row = await vmOf(cloud.db, vm)
  const real = host.find(vm)
  const there = row.host !== null && row.deleted_at === null
  assert.equal(real !== undefined, there, 'what is there is what we know of')
  if (!real) assert.equal(row.shown, row.status, 'what is nowhere is not out of sight')
  else {
    assert.deepEqual([row.shown, row.incarnation], [statusOf[real.power], real.incarnation])
    assert.deepEqual(
      [row.cpus, row.memory_mib, row.disk_mib, row.sizes_before],
      [real.cpus, real.memoryMiB, real.diskMiB, null],
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
  assert.equal(row.desired, row.status, 'nobody waits for a wish')
  const isTold = there && row.computer_name !== null
  assert.equal(host.seedOf(vm)?.userData !== undefined && there, isTold)
  assert.deepEqual([row.holder, row.closed], [null, row.deleted_at !== null])
  const debts = await cloud.db.selectFrom('debt').selectAll().where('vm', '=', vm).execute()
  assert.deepEqual(debts, [], 'what was owed is paid')
}
