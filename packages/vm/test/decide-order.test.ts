// Goal: every rule of a step (docs/design/consistency.md) is one line here. Method: one ledger, one order, one verdict.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  decideOrder,
  withBegun,
  withOutcome,
  withoutBegun,
  type AtWork,
  type GoalNature,
  type Ledger,
  type Order,
  type Report,
  type TaskId,
  type Verdict,
  type VmId,
} from '../src/index.ts'

const vm = 'vm' as VmId
const [mine, other] = ['task-1' as TaskId, 'task-2' as TaskId]
const report: Report = { session: '9', seq: 4 }
const ledger: Ledger = {
  vm,
  incarnation: '5',
  highest: '100',
  task: mine,
  results: { 'task-1/a': report },
  begun: ['task-1/r'],
}
const tombstone: Ledger = { ...ledger, gone: '2026-01-01T00:00:00.000Z' }
const order: Order = { vm, task: mine, key: 'task-1/b', fencingToken: '100', incarnation: '5' }

const needs: GoalNature = { repeatable: true, life: 'needs' }
const begins: GoalNature = { repeatable: true, life: 'begins' }
const ends: GoalNature = { repeatable: true, life: 'ends' }
const once: GoalNature = { repeatable: false, life: 'needs' }
const at = (key: string, fencingToken = '100', incarnation = '5'): AtWork => ({
  key,
  fencingToken,
  incarnation,
})

interface Row {
  readonly given?: Ledger | undefined
  readonly requested?: Partial<Order>
  readonly goal?: GoalNature
  readonly atWork?: AtWork
  readonly says: Verdict['kind'] | `refuse ${string}`
  /** Changes of the ledger; default: none. */
  readonly notes?: Partial<Ledger>
}

const another = { results: {}, begun: [], task: other }
const fresh = { results: {}, begun: [] }
const rows: Readonly<Record<string, Row>> = {
  'the next step of the task': { says: 'act' },
  'a lower fencing token': { requested: { fencingToken: '99' }, says: 'refuse stale 100' },
  // Compared as text it would be the higher one.
  'a lower fencing token with fewer digits': {
    requested: { fencingToken: '99' },
    goal: ends,
    says: 'refuse stale 100',
  },
  'a lower fencing token for a key with a result': {
    requested: { fencingToken: '99', key: 'task-1/a' },
    says: 'refuse stale 100',
  },
  'an equal fencing token of another task': {
    requested: { task: other },
    says: 'refuse stale 100',
  },
  'a lower fencing token and another incarnation': {
    requested: { fencingToken: '9', incarnation: '6' },
    goal: begins,
    says: 'refuse stale 100',
  },
  'a higher fencing token of the same task': {
    requested: { fencingToken: '101' },
    says: 'act',
    notes: { highest: '101' },
  },
  'a higher fencing token of another task': {
    requested: { fencingToken: '101', task: other },
    says: 'act',
    notes: { highest: '101', ...another },
  },
  'a fencing token beyond the range of a double': {
    given: { ...ledger, highest: '9007199254740993' },
    requested: { fencingToken: '9007199254740992' },
    says: 'refuse stale 9007199254740993',
  },
  'a known key': { requested: { key: 'task-1/a' }, says: 'known' },
  'a known key with a higher fencing token': {
    requested: { key: 'task-1/a', fencingToken: '101' },
    says: 'known',
    notes: { highest: '101' },
  },
  'a key of the old task, by a new task': {
    requested: { key: 'task-1/a', task: other, fencingToken: '101' },
    says: 'act',
    notes: { highest: '101', ...another },
  },
  'a lower incarnation': { requested: { incarnation: '4' }, says: 'refuse other-incarnation 5' },
  'a higher incarnation': { requested: { incarnation: '6' }, says: 'refuse other-incarnation 5' },
  'a lower incarnation to be created': {
    requested: { incarnation: '4', fencingToken: '101' },
    goal: begins,
    says: 'refuse other-incarnation 5',
  },
  'a higher incarnation to be created': {
    requested: { incarnation: '6' },
    goal: begins,
    says: 'act',
    notes: { incarnation: '6', ...fresh },
  },
  'a known key for a higher incarnation': {
    requested: { incarnation: '6', key: 'task-1/a' },
    goal: begins,
    says: 'act',
    notes: { incarnation: '6', ...fresh },
  },
  'a higher incarnation to be deleted': {
    requested: { incarnation: '6' },
    goal: ends,
    says: 'refuse other-incarnation 5',
  },
  'a step that is running': { atWork: at('task-1/b'), says: 'join' },
  'a step that is running for an earlier claim': {
    requested: { fencingToken: '101' },
    atWork: at('task-1/b'),
    says: 'join',
    notes: { highest: '101' },
  },
  'another step of the same claim is running': {
    atWork: at('task-1/c'),
    says: 'wait',
  },
  'another step of an earlier claim is running': {
    requested: { fencingToken: '101' },
    atWork: at('task-1/c'),
    says: 'wait',
    notes: { highest: '101' },
  },
  'the same step for another incarnation is running': {
    requested: { incarnation: '6' },
    goal: begins,
    atWork: at('task-1/b'),
    says: 'wait',
    notes: { incarnation: '6', ...fresh },
  },
  'a known key while another step is running': {
    requested: { key: 'task-1/a' },
    atWork: at('task-1/c'),
    says: 'known',
  },
  'a started step that must not be repeated': {
    requested: { key: 'task-1/r' },
    goal: once,
    says: 'refuse interrupted task-1/r',
  },
  'a started step that must not be repeated, by a later claim': {
    requested: { key: 'task-1/r', fencingToken: '101' },
    goal: once,
    says: 'refuse interrupted task-1/r',
    notes: { highest: '101' },
  },
  'a started step that must not be repeated and is running': {
    requested: { key: 'task-1/r' },
    goal: once,
    atWork: at('task-1/r'),
    says: 'join',
  },
  'a step that must not be repeated and was not started': { goal: once, says: 'act' },
  'a started step that may be repeated': { requested: { key: 'task-1/r' }, says: 'act' },
  'a step of a deleted VM': { given: tombstone, says: 'refuse gone 5' },
  'a later step of a deleted VM': {
    given: tombstone,
    requested: { fencingToken: '101', task: other },
    says: 'refuse gone 5',
  },
  'the last step of a deleted VM again': {
    given: tombstone,
    requested: { key: 'task-1/a' },
    goal: ends,
    says: 'known',
  },
  'another deletion of a deleted VM': {
    given: tombstone,
    requested: { fencingToken: '101', task: other },
    goal: ends,
    says: 'act',
    notes: { highest: '101', ...another },
  },
  'a deletion of an earlier incarnation of a deleted VM': {
    given: tombstone,
    requested: { incarnation: '4' },
    goal: ends,
    says: 'refuse other-incarnation 5',
  },
  'a deleted VM to be created in the same incarnation': {
    given: tombstone,
    requested: { fencingToken: '101' },
    goal: begins,
    says: 'refuse gone 5',
  },
  'a deleted VM to be created in an earlier incarnation': {
    given: tombstone,
    requested: { fencingToken: '101', incarnation: '4' },
    goal: begins,
    says: 'refuse gone 5',
  },
  'no ledger, and a step that needs a VM': { given: undefined, says: 'refuse gone 5' },
}

for (const [what, row] of Object.entries(rows)) {
  const { requested, goal = needs, atWork, says, notes } = row
  test(`${what}: ${says}`, () => {
    const known = 'given' in row ? row.given : ledger
    const verdict = decideOrder(known, { ...order, ...requested }, goal, atWork)
    const said =
      verdict.kind === 'refuse' ? `refuse ${verdict.why} ${verdict.detail}` : verdict.kind
    assert.equal(said, says)
    if (verdict.ledger === undefined) assert.equal(notes, undefined)
    else if (notes === undefined) assert.equal(verdict.ledger, known, 'nothing is to be written')
    else assert.deepEqual(verdict.ledger, { ...known, ...notes })
  })
}

test('an outdated claim is aborted, a step of the same claim is not', () => {
  const abort = (requested: Partial<Order>, atWork: AtWork, goal = needs) => {
    const verdict = decideOrder(ledger, { ...order, ...requested }, goal, atWork)
    assert.equal(verdict.kind, 'wait')
    return verdict.kind === 'wait' && verdict.abort
  }
  assert.equal(abort({}, at('task-1/c')), false)
  assert.equal(abort({ fencingToken: '101' }, at('task-1/c')), true)
  assert.equal(abort({ incarnation: '6' }, at('task-1/b'), begins), true)
})

test('an unknown VM is begun or ended, and recorded', () => {
  for (const goal of [begins, ends]) {
    const verdict = decideOrder(undefined, order, goal)
    assert.deepEqual(verdict, {
      kind: 'act',
      ledger: {
        vm,
        incarnation: '5',
        highest: '100',
        task: mine,
        results: {},
        begun: [],
      },
    })
  }
})

test('a deleted VM that is created again is no longer gone, and has another spec', () => {
  const given = { ...tombstone, spec: 'old' }
  const verdict = decideOrder(given, { ...order, incarnation: '6' }, begins)
  assert.deepEqual(verdict.ledger, {
    vm,
    incarnation: '6',
    highest: '100',
    task: mine,
    results: {},
    begun: [],
  })
})

test('an outcome is kept for its own task, facts for its own incarnation, nothing for another', () => {
  const outcome = { report, spec: 'spec', gone: 'now' }
  assert.deepEqual(withOutcome(withBegun(ledger, order.key), order, outcome), {
    ...ledger,
    spec: 'spec',
    gone: 'now',
    results: { 'task-1/a': report, 'task-1/b': report },
  })
  assert.deepEqual(withOutcome(ledger, { ...order, task: other }, outcome), {
    ...ledger,
    spec: 'spec',
    gone: 'now',
  })
  assert.equal(withOutcome(ledger, { ...order, incarnation: '4' }, outcome), ledger)
  assert.deepEqual(withoutBegun(ledger, 'task-1/r').begun, [])
})
