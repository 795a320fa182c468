// Goal: after any lost answer and any crash, exactly one of two hosts has the guest. Method: every state of a move is
// visited, with every fault in each of them; wrong rules must be detected.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { moveRules, wordOf, type MoveRules } from '../src/index.ts'
import { arrivalStages, departureStages, domainSights } from '../src/move-rules.ts'
import { first, isGood, stepsFrom, violation, type State } from './move-model.ts'

interface Explored {
  readonly states: number
  readonly faults: number
  /** The violation, and the steps that led to it. */
  readonly wrong?: { readonly what: string; readonly steps: readonly string[] }
  /** The stages recorded by both hosts, in any state. */
  readonly pairs: ReadonlySet<string>
}

/** Visits every state, nearest first. */
function explore(rules: MoveRules): Explored {
  const from = new Map<string, { readonly before: string; readonly step: string }>()
  const known = new Map<string, State>()
  const before = new Map<string, string[]>()
  const pairs = new Set<string>()
  let faults = 0
  const queue = [first]
  known.set(JSON.stringify(first), first)
  const stepsTo = (key: string): string[] => {
    const came = from.get(key)
    return came ? [...stepsTo(came.before), came.step] : []
  }
  const report = (what: string, key: string): Explored => ({
    states: known.size,
    faults,
    pairs,
    wrong: { what, steps: stepsTo(key) },
  })
  for (let state = queue.shift(); state !== undefined; state = queue.shift()) {
    const key = JSON.stringify(state)
    pairs.add(`${state.source.stage} ${state.target.stage}`)
    for (const { name, isFault, next } of stepsFrom(state, rules)) {
      const nextKey = JSON.stringify(next)
      if (isFault) faults += 1
      else before.set(nextKey, [...(before.get(nextKey) ?? []), key])
      const isKnown = known.has(nextKey)
      if (!isKnown) from.set(nextKey, { before: key, step: name })
      known.set(nextKey, next)
      const what = violation(state, next)
      if (what !== undefined) return report(what, nextKey)
      if (isKnown) continue
      queue.push(next)
    }
  }
  // From every state a valid end can be reached without a further fault.
  const ends = [...known].filter(([, state]) => isGood(state)).map(([key]) => key)
  const good = new Set(ends)
  for (let key = ends.pop(); key !== undefined; key = ends.pop()) {
    for (const each of before.get(key) ?? []) {
      if (good.has(each)) continue
      good.add(each)
      ends.push(each)
    }
  }
  const stuck = [...known.keys()].find((key) => !good.has(key))
  return stuck === undefined
    ? { states: known.size, faults, pairs }
    : report('the move never ends', stuck)
}

const explored = explore(moveRules)

test('in every state of a move, with every fault, the guest runs on at most one host and finally on exactly one', (t) => {
  t.diagnostic(`${explored.states} states, ${explored.faults} faults`)
  assert.equal(explored.wrong, undefined)
  assert.ok(explored.states > 5000)
})

test('a target accepts nothing that its source has not handed over or has kept', () => {
  for (const pair of ['none landed', 'departing landed', 'stayed landed', 'left refused'])
    assert.ok(!explored.pairs.has(pair), pair)
  for (const pair of ['handed awaiting', 'handed landed', 'handed refused', 'stayed refused'])
    assert.ok(explored.pairs.has(pair), pair)
})

const withSource = (stage: keyof MoveRules['source'], change: object): MoveRules => ({
  ...moveRules,
  source: { ...moveRules.source, [stage]: { ...moveRules.source[stage], ...change } },
})
const withTarget = (stage: keyof MoveRules['target'], change: object): MoveRules => ({
  ...moveRules,
  target: { ...moveRules.target, [stage]: { ...moveRules.target[stage], ...change } },
})

const wrongRules: Readonly<Record<string, readonly [MoveRules, string]>> = {
  'a source that resumes the guest if the target does not answer': [
    withSource('handed', { silent: 'stay' }),
    'the guest runs at both hosts',
  ],
  'a source that removes the guest if the target does not answer': [
    withSource('handed', { silent: 'leave' }),
    'the guest is nowhere',
  ],
  'a source that resumes the guest although the target has it': [
    withSource('handed', { landed: 'stay' }),
    'the guest runs at both hosts',
  ],
  'a source that removes the guest although the target refused': [
    withSource('handed', { refused: 'leave' }),
    'the guest is nowhere',
  ],
  'a source that never queries the target': [
    withSource('handed', { silent: 'end' }),
    'the move never ends',
  ],
  'a source that does not inform the target that nothing will arrive': [
    withSource('stayed', { silent: 'end' }),
    'the move never ends',
  ],
  'a source that removes the guest before the hand-over': [
    withSource('departing', { silent: 'leave' }),
    'the guest is nowhere',
  ],
  'a target that removes a landed guest after a crash': [
    withTarget('landed', { none: 'remove', off: 'remove', paused: 'remove', running: 'remove' }),
    'the source runs again after the guest ran at the target',
  ],
  'a target that reports a stopped guest as never started': [
    withTarget('landed', { none: 'remove', off: 'remove' }),
    'the source runs again after the guest ran at the target',
  ],
  'a target that starts a guest that has not landed': [
    withTarget('awaiting', { none: 'start' }),
    'the guest runs at both hosts',
  ],
}
for (const [name, [rules, what]] of Object.entries(wrongRules)) {
  test(`the model finds ${name}`, (t) => {
    const { wrong } = explore(rules)
    t.diagnostic(wrong?.steps.join('; ') ?? 'nothing found')
    assert.equal(wrong?.what, what)
  })
}

test('for any recorded stages and domains of two hosts, settling leaves at most one that runs', () => {
  for (const stage of departureStages) {
    for (const other of [undefined, ...arrivalStages]) {
      for (const there of domainSights) {
        // No move reaches this state: see above.
        if (stage === 'stayed' && other === 'landed') continue
        const source = moveRules.source[stage][wordOf(other)]
        const here = source === 'stay' || source === 'end'
        const runsThere = moveRules.target[other ?? 'refused'][there] !== 'remove'
        assert.ok(!(here && runsThere), `${stage}, ${other} ${there}`)
        assert.ok(here || runsThere || stage === 'left', `${stage}, ${other} ${there}`)
      }
    }
  }
})
