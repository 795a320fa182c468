// Goal: claim, fencing token, step and rollback are correct over every interleaving of two workers, with late or duplicate messages,
// a run that lost its history, and a host that dies after it has acted and before it has recorded that.
// Method: all reachable states are visited. The answers of Postgres and the host come from the real functions, called once for
// each different input, and cached: there are a few hundred inputs and nearly a million states.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { Postgres } from '@skerry/lab'
import {
  decideOrder,
  withOutcome,
  type Ledger,
  type Report,
  type TaskId,
  type VmId,
} from '@skerry/vm'
import { sql } from 'kysely'

import { operationNamed } from '../src/operations/vm-operations.ts'
import { claimTask, turnBack } from '../src/tasks/claim-task.ts'
import { cancelTask, endTask } from '../src/tasks/end-task.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import {
  openCloudDatabase,
  startDatabases,
  taskOf,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const STEPS = 3
const ALL = 2 ** STEPS - 1
const KEYS = 2 * STEPS

/** The state of the task in Postgres: how many tokens were drawn, which is the newest, and its status. */
interface Rows {
  readonly drawn: number
  readonly newest: number
  readonly back: boolean
  readonly cancel: boolean
  readonly end: '' | 'success' | 'canceled' | 'error'
}

interface Worker {
  /** 0: it has claimed nothing yet. */
  readonly number: number
  readonly back: boolean
  readonly done: number
}

interface State {
  readonly rows: Rows
  readonly workers: readonly [Worker, Worker]
  /** Messages in flight and received answers, as bits: token × key. They are never lost, only late. */
  readonly sent: number
  readonly answered: number
  /** The host: its ledger as highest token and results, and what really exists. */
  readonly highest: number
  readonly results: number
  readonly there: number
}

interface Rules {
  claim(rows: Rows): Rows | undefined
  cancel(rows: Rows): Rows | undefined
  turnBack(rows: Rows, number: number): Rows | undefined
  end(rows: Rows, number: number): Rows | undefined
  deliver(highest: number, results: number, number: number, key: number): Delivery
}

type Delivery =
  | { readonly say: 'refuse' }
  | { readonly say: 'known' | 'act'; readonly highest: number; readonly results: number }

const START: State = {
  rows: { drawn: 0, newest: 0, back: false, cancel: false, end: '' },
  workers: [
    { number: 0, back: false, done: 0 },
    { number: 0, back: false, done: 0 },
  ],
  sent: 0,
  answered: 0,
  highest: 0,
  results: 0,
  there: 0,
}

const bit = (number: number, key: number): number => 2 ** ((number - 1) * KEYS + key)
const has = (set: number, one: number): boolean => Math.floor(set / one) % 2 === 1
const add = (set: number, one: number): number => (has(set, one) ? set : set + one)

const endWords = ['', 'success', 'canceled', 'error'] as const

function nameOf({ rows, workers, ...rest }: State): string {
  const flag = (each: boolean) => (each ? 1 : 0)
  const worker = ({ number, back, done }: Worker) => number * 8 + flag(back) * 4 + done
  const [one, two] = workers.map(worker) as [number, number]
  const task =
    ((rows.drawn * 8 + rows.newest) * 4 + flag(rows.back) * 2 + flag(rows.cancel)) * 4 +
    endWords.indexOf(rows.end)
  // Swapping the two workers gives the same state.
  return `${task},${Math.min(one, two)},${Math.max(one, two)},${rest.sent},${rest.answered},${rest.highest},${rest.results},${rest.there}`
}

function* nextOf(state: State, rules: Rules, numbers: number): Iterable<State> {
  const { rows, workers } = state
  const canceled = rows.end === '' && !rows.cancel ? rules.cancel(rows) : undefined
  if (canceled) yield { ...state, rows: canceled }
  for (const [at, worker] of workers.entries()) {
    const other = workers[1 - at] as Worker
    const become = (changed: Worker, more: Partial<State> = {}): State => ({
      ...state,
      ...more,
      workers: [changed, other],
    })
    // A claim: by a run that lost its history, after a lease expired, or as a local activity that Temporal runs again.
    const claimed = rows.drawn < numbers ? rules.claim(rows) : undefined
    if (claimed) {
      yield become({ number: claimed.newest, back: claimed.back, done: 0 }, { rows: claimed })
    }
    if (worker.number === 0) continue
    // A twin: the same run on another worker.
    if (nameOfWorker(worker) !== nameOfWorker(other)) yield { ...state, workers: [worker, worker] }
    if (rows.cancel && !worker.back && rows.drawn < numbers) {
      const turned = rules.turnBack(rows, worker.number)
      if (turned) yield become({ number: turned.newest, back: true, done: 0 }, { rows: turned })
    }
    if (worker.done < STEPS) {
      // Forward in the order of the steps, back in the reverse order, over all of them.
      const key = worker.back ? STEPS + (STEPS - 1 - worker.done) : worker.done
      const message = bit(worker.number, key)
      if (!has(state.sent, message)) yield { ...state, sent: add(state.sent, message) }
      if (has(state.answered, message)) yield become({ ...worker, done: worker.done + 1 })
    } else {
      const ended = rules.end(rows, worker.number)
      if (ended) yield { ...state, rows: ended }
    }
  }
  for (let number = 1; number <= numbers; number += 1) {
    for (let key = 0; key < KEYS; key += 1) {
      const message = bit(number, key)
      if (!has(state.sent, message)) continue
      const { highest, results } = state
      const delivery = rules.deliver(highest, results, number, key)
      if (delivery.say === 'refuse') continue
      const answered = add(state.answered, message)
      if (delivery.say === 'known') {
        yield { ...state, highest: delivery.highest, answered }
        continue
      }
      const goal = 2 ** (key % STEPS)
      const there = key < STEPS ? state.there | goal : state.there & ~goal
      yield {
        ...state,
        there,
        answered,
        highest: delivery.highest,
        results: delivery.results,
      }
      // It died after acting: the token was already on disk, the result is not.
      yield { ...state, there, highest: delivery.highest }
    }
  }
}

const nameOfWorker = ({ number, back, done }: Worker): string => `${number},${back},${done}`

/** Visits every state; returns the violated guarantee, or the number of states. */
function visitAll(rules: Rules, numbers: number): { states: number; broken?: string } {
  const seen = new Set([nameOf(START)])
  const waiting: State[] = [START]
  for (let state = waiting.pop(); state; state = waiting.pop()) {
    const { rows, there } = state
    if (rows.end === 'canceled' && there !== 0) {
      return { states: seen.size, broken: 'canceled, but something is left' }
    }
    if (rows.end === 'success' && there !== ALL) {
      return { states: seen.size, broken: 'success, but something is missing' }
    }
    for (const next of nextOf(state, rules, numbers)) {
      const name = nameOf(next)
      if (seen.has(name)) continue
      seen.add(name)
      waiting.push(next)
    }
  }
  return { states: seen.size }
}

/** The real functions, called in advance for every possible input. */
async function realRules(cloud: CloudDatabase, numbers: number): Promise<Rules> {
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const { db } = cloud
  const { id } = await cloud.as(cloud.principal, (tx) =>
    submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' }),
  )
  const { rows: eras } = await sql<{ floor: string }>`
    select current_era() * 1099511627776 as floor`.execute(db)
  const floor = BigInt(eras[0]?.floor ?? 0)
  const real = (number: number): string => String(floor + BigInt(number))

  async function put(rows: Rows): Promise<void> {
    await sql`select setval('fence_counter', ${Math.max(rows.drawn, 1)}, ${rows.drawn > 0})`.execute(
      db,
    )
    await db
      .updateTable('vm')
      .set({ fence: rows.newest === 0 ? '0' : real(rows.newest), holder: null, lease_until: null })
      .where('id', '=', vm)
      .execute()
    await db
      .updateTable('task')
      .set({
        state: rows.end === '' ? (rows.drawn === 0 ? 'queued' : 'running') : rows.end,
        direction: rows.back ? 'back' : 'forward',
        fault: rows.back ? 'canceled' : null,
        cancel_requested: rows.cancel,
      })
      .where('id', '=', id)
      .execute()
  }
  async function take(): Promise<Rows> {
    const task = await taskOf(db, id)
    const { fence: number } = await vmOf(db, vm)
    const { rows } = await sql<{ drawn: string }>`
      select case when is_called then last_value else 0 end as drawn from fence_counter`.execute(db)
    const newest = Number(BigInt(number) - floor)
    return {
      drawn: Number(rows[0]?.drawn),
      newest: Math.max(newest, 0),
      back: task.direction === 'back',
      cancel: task.cancel_requested,
      end: task.state === 'queued' || task.state === 'running' ? '' : task.state,
    }
  }

  const known = new Map<string, Rows | undefined>()
  const question = (verb: string, rows: Rows, number = 0): string =>
    `${verb} ${number} ${JSON.stringify(rows)}`
  const verbs: Record<string, (number: number) => Promise<unknown>> = {
    claim: () => claimTask(db, vm, 'run', { perHost: 9, perOrg: 9, within: () => 300 }),
    cancel: () => cancelTask(db, id),
    turnBack: (number) =>
      turnBack(db, { task: id, fence: real(number) }, { kind: 'canceled', message: 'stop' }),
    end: (number) => endTask(db, { task: id, fence: real(number) }),
  }
  // Every possible row is found by calling, starting with the first.
  const waiting: Rows[] = [START.rows]
  const rowsSeen = new Set<string>()
  for (let rows = waiting.pop(); rows; rows = waiting.pop()) {
    if (rowsSeen.has(JSON.stringify(rows))) continue
    rowsSeen.add(JSON.stringify(rows))
    for (const [verb, ask] of Object.entries(verbs)) {
      const draws = verb === 'claim' || verb === 'turnBack'
      if (draws && rows.drawn >= numbers) continue
      const requested = verb === 'turnBack' || verb === 'end' ? rows.drawn : 0
      for (let number = requested === 0 ? 0 : 1; number <= requested; number += 1) {
        await put(rows)
        await ask(number).catch((error: unknown) => {
          if (!(error instanceof Fault) || error.kind !== 'stale') throw error
        })
        const next = await take()
        const same = JSON.stringify(next) === JSON.stringify(rows)
        known.set(question(verb, rows, number), same ? undefined : next)
        if (!same) waiting.push(next)
      }
    }
  }
  const answer = (verb: string) => (rows: Rows, number?: number) => {
    const requested = question(verb, rows, number)
    assert.ok(known.has(requested), `was asked: ${requested}`)
    return known.get(requested)
  }
  return {
    claim: (rows) => (rows.end === '' ? answer('claim')(rows) : undefined),
    cancel: (rows) => answer('cancel')(rows),
    turnBack: answer('turnBack'),
    end: answer('end'),
    deliver: realHost(),
  }
}

/** A host's ledger: the real rule for orders, converted from numbers and bits and back. */
function realHost(): Rules['deliver'] {
  const known = new Map<number, Delivery>()
  const report: Report = { session: '1', seq: 1 }
  const nature = { repeatable: true, life: 'needs' } as const
  return (highest, results, number, key) => {
    const requested = ((highest * 8 + number) * KEYS + key) * 64 + results
    const before = known.get(requested)
    if (before) return before
    const keys = Array.from({ length: KEYS }, (_, each) => each)
    const ledger: Ledger = {
      vm: 'vm' as VmId,
      incarnation: '1',
      task: 'task' as TaskId,
      begun: [],
      highest: String(highest),
      results: Object.fromEntries(
        keys.filter((each) => has(results, 2 ** each)).map((each) => [`${each}`, report]),
      ),
    }
    const order = {
      vm: ledger.vm,
      task: ledger.task,
      incarnation: '1',
      key: `${key}`,
      fencingToken: String(number),
    }
    const verdict = decideOrder(ledger, order, nature)
    let delivery: Delivery = { say: 'refuse' }
    if (verdict.kind === 'known' || verdict.kind === 'act') {
      const kept =
        verdict.kind === 'act' ? withOutcome(verdict.ledger, order, { report }) : verdict.ledger
      delivery = {
        say: verdict.kind,
        highest: Number(kept.highest),
        results: Object.keys(kept.results).reduce((sum, each) => sum + 2 ** Number(each), 0),
      }
    }
    known.set(requested, delivery)
    return delivery
  }
}

/** Claims and rollbacks in total. Four give nearly a million states, which takes long. */
const NUMBERS = Number(process.env['SKERRY_MODEL_NUMBERS'] ?? 3)

test('nothing is left over and nothing is missing in any interleaving', async (t) => {
  await using cloud = await openCloudDatabase(postgres)
  const rules = await realRules(cloud, NUMBERS)
  const { states, broken } = visitAll(rules, NUMBERS)
  t.diagnostic(`${states} states`)
  assert.equal(broken, undefined)
  assert.ok(states > 40_000, `${states} states are all there are`)
})

test('the model can fail: a host that ignores fencing tokens is detected', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const rules = await realRules(cloud, NUMBERS)
  const careless: Rules = {
    ...rules,
    deliver: (_highest, results, _number, key) => rules.deliver(0, results, 1, key),
  }
  assert.match(visitAll(careless, NUMBERS).broken ?? '', /left|missing/)
})

test('the model can fail: a rollback without a new fencing token is detected', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const rules = await realRules(cloud, NUMBERS)
  const careless: Rules = {
    ...rules,
    turnBack: (rows, number) =>
      rows.newest === number && rows.end === '' && !rows.back ? { ...rows, back: true } : undefined,
    end: (rows, number) =>
      rows.newest === number && rows.end === ''
        ? { ...rows, end: rows.back ? 'canceled' : 'success' }
        : undefined,
    claim: (rows) =>
      rows.end === '' ? { ...rows, drawn: rows.drawn + 1, newest: rows.drawn + 1 } : undefined,
    cancel: (rows) => (rows.end === '' ? { ...rows, cancel: true } : undefined),
  }
  assert.match(visitAll(careless, NUMBERS).broken ?? '', /left|missing/)
})
