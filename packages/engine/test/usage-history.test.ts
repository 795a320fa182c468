// Goal: what is kept of a VM's counters is right or null, never negative and never absurd. Method: single cases; then thousands of
// generated samples with power cycles, counters that go back, missed samples, sleep and clocks that jump, against a simple model.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { usageKeys } from '@skerry/vm'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { usageBetween, type UsageSample } from '../src/usage/rates.ts'
import { UsageHistory } from '../src/usage/usage-history.ts'

const STEP_MS = 15_000
const GIB = 1024 ** 3
const hour = { step: 15, points: 240 }

const sample = (atMs: number, more: Partial<UsageSample> = {}): UsageSample => ({
  atMs,
  run: 1,
  cpus: 2,
  cpuNanoseconds: 0,
  memoryBytes: GIB,
  readBytes: 0,
  writtenBytes: 0,
  receivedBytes: 0,
  sentBytes: 0,
  ...more,
})
const unknownRates = {
  cpuPercent: null,
  diskRead: null,
  diskWrite: null,
  netIn: null,
  netOut: null,
}

test('rates are means of the time between two samples; memory is that of the later one', () => {
  const now = sample(STEP_MS, {
    cpuNanoseconds: 15e9,
    readBytes: 1500,
    writtenBytes: 3000,
    receivedBytes: 15,
    sentBytes: 30,
  })
  assert.deepEqual(usageBetween(sample(0), now), {
    cpuPercent: 50,
    memoryMB: 1024,
    diskRead: 100,
    diskWrite: 200,
    netIn: 1,
    netOut: 2,
  })
})

test('samples that do not belong together give null: the first, another boot, a missed one, a counter that went back', () => {
  const later = sample(STEP_MS)
  const unknown = { ...unknownRates, memoryMB: 1024 }
  assert.deepEqual(usageBetween(undefined, later), unknown)
  assert.deepEqual(usageBetween(sample(0, { run: 2 }), later), unknown)
  assert.deepEqual(usageBetween(sample(STEP_MS), later), unknown, 'no time has passed')
  assert.deepEqual(usageBetween(sample(2 * STEP_MS), later), unknown, 'time went back')
  assert.deepEqual(usageBetween(sample(0), sample(2 * STEP_MS)), unknown)
  const back = usageBetween(sample(0, { readBytes: 1 }), later)
  assert.deepEqual([back.diskRead, back.diskWrite], [null, 0], 'only this counter went back')
})

test('no value is absurd: at most all CPUs, and no rate that no hardware has', () => {
  const most = usageBetween(sample(0), sample(1000, { cpuNanoseconds: 9e12, sentBytes: 1e18 }))
  assert.deepEqual([most.cpuPercent, most.netOut], [100, null])
  const untold = { atMs: STEP_MS, run: 1 }
  assert.deepEqual(usageBetween({ atMs: 0, run: 1 }, untold), { ...unknownRates, memoryMB: null })
})

test('a VM that is gone, or off for an hour, is forgotten; one that is off has no values', () => {
  const history = new UsageHistory()
  const at = (n: number) => ({ time: new Date(n * STEP_MS), atMs: n * STEP_MS })
  const both = (n: number) => new Map(['a', 'b'].map((name) => [name, sample(n * STEP_MS)]))
  const read = (name: string) => history.read(name, hour, new Date(0)).netIn
  history.record(at(0), both(0), () => true)
  history.record(at(1), both(1), () => true)
  assert.deepEqual(read('a').slice(-3), [null, null, 0])
  history.record(at(2), new Map(), (name) => name === 'a')
  assert.deepEqual([read('a'), read('b')], [[], []])
  history.record(at(3), both(3), () => true)
  assert.deepEqual(read('a').slice(-4), [null, 0, null, null])
  assert.deepEqual(read('b').slice(-4), [null, null, null, null])
  history.record(at(3 + 240), new Map(), () => true)
  history.record(at(4 + 240), both(4 + 240), () => true)
  assert.ok(read('a').every((each) => each === null))
})

test('a longer step has the mean of what is known in it', () => {
  const history = new UsageHistory()
  const rates = [10, 20, 30, 60, 80]
  let receivedBytes = 0
  for (const [at, rate] of [0, ...rates].entries()) {
    receivedBytes += rate * 15
    const moment = { time: new Date(at * STEP_MS), atMs: at * STEP_MS }
    const samples = new Map([['a', sample(moment.atMs, { receivedBytes })]])
    history.record(moment, samples, () => true)
  }
  const read = (step: number, points: number) => history.read('a', { step, points }, new Date(0))
  assert.deepEqual(read(15, 6).netIn, [null, ...rates])
  assert.deepEqual(read(30, 3).netIn, [10, 25, 70])
  assert.deepEqual(read(75, 1).netIn, [40])
  assert.equal(read(30, 3).until, new Date(5 * STEP_MS).toISOString())
})

test('a wall clock that is set a day forward or back changes nothing that is kept', () => {
  const history = new UsageHistory()
  const DAY_MS = 86_400_000
  const record = (at: number, wallMs: number) => {
    const samples = new Map([['a', sample(at * STEP_MS, { receivedBytes: at * 150 })]])
    history.record({ time: new Date(wallMs), atMs: at * STEP_MS }, samples, () => true)
    return history.read('a', { step: 15, points: 5 }, new Date(0))
  }
  record(0, 0)
  record(1, STEP_MS)
  assert.deepEqual(record(2, DAY_MS).netIn, [null, null, null, 10, 10])
  assert.deepEqual(record(3, 3 * STEP_MS).netIn, [null, null, 10, 10, 10])
  const { netIn, until } = record(4, DAY_MS)
  assert.deepEqual([netIn, until], [[null, 10, 10, 10, 10], new Date(DAY_MS).toISOString()])
})

test('generated counters: every kept value is that of a simple model', () => {
  for (let seed = 1; seed <= 10; seed += 1)
    compareWithModel(seededRandom(seed).below, `seed ${seed}`)
})

/** Every so many rounds all values of the last hour are compared. */
const COMPARED = 30

/** The model keeps one expected value for each step since the beginning, and looks at the last 240. */
function compareWithModel(random: (below: number) => number, label: string): void {
  const history = new UsageHistory()
  const expected: (number | null)[] = []
  const now = { wallMs: 1e12, atMs: 0, run: 1, bytes: 0 }
  for (let round = 0; round < 600; round += 1) {
    const missed = random(20) === 0 ? 1 + random(random(10) === 0 ? 300 : 5) : 0
    const ranMs = round === 0 ? 0 : (1 + missed) * STEP_MS
    const jumpMs = random(15) === 0 ? (random(600) - 300) * STEP_MS : 0
    const rate = random(1000)
    const isNewBoot = random(25) === 0
    const wentBack = !isNewBoot && now.bytes > 0 && random(25) === 0
    now.atMs += ranMs
    now.wallMs += ranMs + jumpMs
    now.run += isNewBoot ? 1 : 0
    now.bytes = isNewBoot
      ? random(1e6)
      : wentBack
        ? now.bytes - 1
        : now.bytes + (rate * ranMs) / 1000
    const isKnown = round > 0 && missed === 0 && !isNewBoot && !wentBack
    const slot = now.atMs / STEP_MS
    while (expected.length < slot) expected.push(null)
    expected[slot] = isKnown ? rate : null
    const moment = { time: new Date(now.wallMs), atMs: now.atMs }
    const samples = new Map([['a', sample(now.atMs, { run: now.run, receivedBytes: now.bytes })]])
    history.record(moment, samples, () => true)
    if (round % COMPARED !== 0) continue
    const { netIn, until } = history.read('a', hour, new Date(0))
    const wanted = Array.from({ length: 240 }, (_, at) => expected[slot - 239 + at] ?? null)
    assert.deepEqual(netIn, wanted, `${label}, round ${round}`)
    assert.equal(until, moment.time.toISOString())
  }
}

test('hostile counters and clocks never give a negative or absurd value', () => {
  const random = seededRandom(7).below
  const history = new UsageHistory()
  for (let round = 0; round < 300; round += 1) {
    const atMs = random(5) === 0 ? random(1e9) : round * STEP_MS + random(40_000)
    const counters = sample(atMs, {
      run: random(3),
      cpus: random(4),
      cpuNanoseconds: random(2 ** 31) * 1e9,
      receivedBytes: random(2 ** 31) * 1e9,
    })
    const moment = { time: new Date(random(2 ** 31)), atMs }
    history.record(moment, new Map([['a', counters]]), () => true)
    const series = history.read('a', { step: 60, points: 60 }, new Date(0))
    for (const key of usageKeys) {
      const most = key === 'cpuPercent' ? 100 : 1e12
      const isSane = series[key].every((each) => each === null || (each >= 0 && each <= most))
      assert.ok(isSane, `${key}, round ${round}: ${series[key].join()}`)
    }
  }
})
