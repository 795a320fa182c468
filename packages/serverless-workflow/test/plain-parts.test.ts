// Goal: the small pure functions are correct. Method: tables; plain paths are compared with the real jq.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { startEvaluator } from '@skerry/jq'

import { durationMs } from '../src/definition/duration.ts'
import { matches, problem } from '../src/interpreter/problem.ts'
import { simplePath } from '../src/interpreter/simple-path.ts'
import { delayOf } from '../src/interpreter/tasks/try.ts'
import type { Json } from '../src/interpreter/verbs.ts'

const evaluator = startEvaluator()
after(async () => evaluator[Symbol.asyncDispose]())

test('a plain path returns the same as jq, or leaves it to jq', async () => {
  const values: Json[] = [
    null,
    true,
    1,
    'text',
    [],
    {},
    { a: null },
    { a: { b: [1, { c: 2 }] } },
    { toString: 1 },
    { a: 'x', b: { a: 1 } },
    [{ a: 1 }],
    { constructor: { name: 'x' } },
    { __proto__x: 1 },
  ]
  const paths = [
    '.',
    '.a',
    '.a.b',
    '.a.b.c',
    '.toString',
    '.constructor.name',
    '$v',
    '$v.a',
    '$v.b.a',
  ]
  let plain = 0
  for (const on of values) {
    const variables = { v: on }
    const requested = await evaluator.evaluate({ expressions: paths, on, variables })
    for (const [n, path] of paths.entries()) {
      const found = simplePath(path, on, (name) => (name === 'v' ? on : undefined))
      if (found === undefined) continue
      plain++
      assert.deepEqual(found, requested[n], `${path} of ${JSON.stringify(on)}`)
    }
  }
  assert.ok(plain > 60, String(plain))
  for (const hard of [
    '',
    '..',
    '.[0]',
    '.a[]',
    '.a | .b',
    '.a?',
    '.a-b',
    '$v[0]',
    '$other',
    '."a"',
    'a',
    '.a.',
  ])
    assert.equal(
      simplePath(hard, { a: 1 }, () => undefined),
      undefined,
      hard,
    )
})

test('durations are parsed as ISO 8601 and as parts', () => {
  const cases: [Parameters<typeof durationMs>[0], number | undefined][] = [
    ['PT1S', 1_000],
    ['PT0.25S', 250],
    ['PT0,5S', 500],
    ['P1DT2H3M4S', 93_784_000],
    ['P2W', 1_209_600_000],
    [{ minutes: 1, seconds: 30, milliseconds: 5 }, 90_005],
    [{ days: 1, hours: 1 }, 90_000_000],
    ['P1Y', undefined],
    ['P1M', undefined],
    ['PT', undefined],
    ['P', undefined],
    ['1S', undefined],
    ['', undefined],
  ]
  for (const [duration, ms] of cases)
    assert.equal(durationMs(duration), ms, JSON.stringify(duration))
})

test('the delay between attempts grows as configured, up to a maximum', () => {
  const delay = { seconds: 2 }
  const delays = (backoff: Parameters<typeof delayOf>[0]['backoff']) =>
    [1, 2, 3, 4].map((again) => delayOf({ delay, ...(backoff && { backoff }) }, again) / 1_000)
  assert.deepEqual(delays(undefined), [2, 2, 2, 2])
  assert.deepEqual(delays({ constant: {} }), [2, 2, 2, 2])
  assert.deepEqual(delays({ linear: {} }), [2, 4, 6, 8])
  assert.deepEqual(delays({ exponential: {} }), [2, 4, 8, 16])
  assert.equal(delayOf({ delay, backoff: { exponential: {} } }, 5_000), 86_400_000)
})

test('an error filter compares only the fields it has', () => {
  const error = problem('communication', 'away', { status: 503, instance: '/do/0/a' })
  assert.ok(matches(undefined, error))
  assert.ok(matches({}, error))
  assert.ok(matches({ status: 503, instance: '/do/0/a' }, error))
  assert.ok(
    matches({ type: 'https://serverlessworkflow.io/dsl/errors/types/communication' }, error),
  )
  assert.ok(
    matches({ type: 'https://serverlessworkflow.io/spec/1.0.0/errors/communication' }, error),
  )
  assert.ok(!matches({ type: 'https://serverlessworkflow.io/spec/1.0.0/errors/timeout' }, error))
  assert.ok(!matches({ status: 500 }, error))
  assert.ok(!matches({ details: 'other' }, error))
})
