// Goal: each construct follows the DSL, with any split of histories. Method: the interpreter with the real jq; almost every run is
// made twice, once with a new history before every task, and must have the same result and the same effects.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { startEvaluator } from '@skerry/jq'

import { Raised } from '../src/interpreter/problem.ts'
import type { Json } from '../src/interpreter/verbs.ts'
import { errorOf, outputOf, waysWith } from './both-ways.ts'
import { definitionOf } from './scenarios.ts'
import { runSmall, type SmallOptions } from './small-runtime.ts'

const evaluator = startEvaluator()
const { once, both } = waysWith(evaluator)
after(async () => evaluator[Symbol.asyncDispose]())

test('input, output and export transform the data, and the context persists', async () => {
  const end = await both(
    `
- first:
    set: { a: 1, b: 2 }
    output: { as: .a }
    export: { as: '$context + { kept: $output, from: $task.name }' }
- second:
    if: '. == 1'
    input: { from: '{ one: ., kept: $context.kept }' }
    set: { all: '\${ [$input.one, $context, $task.reference, $workflow.input.x, $runtime.name] }' }
- third: { if: '\${ false }', set: { gone: true }, then: end }`,
    { x: 'raw' },
  )
  assert.deepEqual(outputOf(end), {
    all: [1, { kept: 1, from: 'first' }, '/do/1/second', 'raw', 'skerry'],
  })
  assert.deepEqual(
    end.steps.map(({ name, what }) => `${name} ${what}`),
    ['first began', 'first ended', 'second began', 'second ended', 'third skipped'],
  )
  assert.deepEqual(
    end.steps.map(({ number }) => number),
    [1, 2, 3, 4, 5],
  )
})

test('null is a normal value', async () => {
  const end = await both(
    `
- none: { set: '\${ null }' }
- still: { set: '\${ [.] }' }
- loop: { for: { in: '[null, 1]' }, do: [ { last: { set: '\${ $item }' } } ] }`,
    { some: 'input' },
  )
  assert.equal(outputOf(end), 1)
})

test('a schema mismatch is a validation error', async () => {
  const schema = `{ schema: { document: { type: object, required: [n], properties: { n: { type: integer } } } } }`
  assert.deepEqual(
    outputOf(await both(`- ok: { input: ${schema}, set: { n: 2 }, output: ${schema} }`, { n: 1 })),
    { n: 2 },
  )
  const input = errorOf(await once(`- bad: { input: ${schema}, set: { n: 2 } }`, { n: 'x' }))
  assert.deepEqual([input.status, input.instance], [400, '/do/0/bad'])
  assert.match(`${input.type} ${input.detail}`, /errors\/validation the input: \/n must be integer/)
  const output = errorOf(await once(`- bad: { set: { m: 2 }, output: ${schema} }`))
  assert.match(output.detail ?? '', /^the output: /)
  const context = errorOf(
    await once(`- bad: { set: { m: 2 }, export: { as: ., ${schema.slice(1, -1)} } }`),
  )
  assert.match(context.detail ?? '', /^the context: /)
})

test('a failing expression reports jq’s message and can be caught', async () => {
  const error = errorOf(await once(`- bad: { set: { a: '\${ .x.y }' } }`, { x: 'text' }))
  assert.match(error.type, /errors\/expression$/)
  assert.equal(error.detail, '.x.y: Cannot index string with string "y"')
  const caught = await both(
    `
- attempt:
    try: [ { bad: { set: { a: '\${ .x.y }' } } } ]
    catch: { when: '$error.status == 400', do: [ { handled: { set: { was: '\${ $error.status }' } } } ] }`,
    { x: 'text' },
  )
  assert.deepEqual(outputOf(caught), { was: 400 })
})

test('a loop ends when while is false, and nested loops see their variables', async () => {
  const end = await both(
    `
- outer:
    for: { each: row, in: '[[1, 2], [3, 4], [5, 6]]', at: y }
    while: '(. | length) < 4'
    do:
      - inner:
          for: { each: cell, in: $row, at: x }
          do: [ { add: { set: '\${ . + [$cell * 100 + $y * 10 + $x] }' } } ]`,
    [],
  )
  assert.deepEqual(outputOf(end), [100, 201, 310, 411])
})

test('end inside a loop, a fork or a branch ends the run; exit ends the list', async () => {
  const loop = `
- loop:
    for: { in: '[1, 2, 3]' }
    do:
      - see: { switch: [ { two: { when: '$item == 2', then: end } } ] }
      - go: { set: '\${ $item }' }
- never: { set: '"never"' }`
  assert.equal(outputOf(await both(loop, 0)), 1)
  const exit = `
- block:
    do:
      - one: { set: { a: 1 }, then: exit }
      - two: { set: { a: 2 } }
- next: { set: { b: '\${ .a }' } }`
  assert.deepEqual(outputOf(await both(exit)), { b: 1 })
})

test('a fork returns the outputs in the order of its branches; a failing branch ends the others', async () => {
  const good = `
- both:
    fork:
      branches:
        - slow: { do: [ { rest: { wait: { milliseconds: 60 } } }, { say: { set: '"slow"' } } ] }
        - fast: { do: [ { a: { set: 1 } }, { b: { set: '\${ . + 1 }' } } ] }
- count: { set: '\${ . }' }`
  assert.deepEqual(outputOf(await both(good)), ['slow', 2])
  const bad = `
- both:
    fork:
      branches:
        - slow: { wait: { minutes: 5 } }
        - fails: { raise: { error: { type: 'urn:x', status: 418 } } }`
  const end = await both(bad)
  assert.deepEqual(errorOf(end), {
    type: 'urn:x',
    status: 418,
    instance: '/do/0/both/fork/branches/1/fails',
  })
  assert.ok(end.steps.some(({ name, what }) => name === 'slow' && what === 'canceled'))
})

test('concurrent progress of branches is recorded in order', async () => {
  const branch = (n: number) =>
    `- b${n}: { do: [ { one: { set: '\${ ${n} + 1 }' } }, { rest: { wait: { milliseconds: 5 } } }, { two: { set: '\${ . + 1 }' } } ] }`
  const branches = [1, 2, 3, 4].map(branch).join('\n        ')
  const end = await both(`\n- all:\n    fork:\n      branches:\n        ${branches}`)
  assert.deepEqual(outputOf(end), [3, 4, 5, 6])
  const numbers = end.steps.map(({ number }) => number)
  assert.deepEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, n) => n + 1),
  )
})

test('of competing branches the first to succeed wins, and a failing one does not win', async () => {
  const race = `
- race:
    fork:
      compete: true
      branches:
        - fails: { raise: { error: { type: 'urn:x', status: 418 } } }
        - slow: { wait: { minutes: 5 } }
        - wins: { do: [ { rest: { wait: { milliseconds: 30 } } }, { say: { set: '"won"' } } ] }`
  assert.equal(outputOf(await both(race)), 'won')
  const none = `
- race: { fork: { compete: true, branches: [ { a: { raise: { error: { type: 'urn:a', status: 1 } } } }, { b: { raise: { error: { type: 'urn:b', status: 2 } } } } ] } }`
  assert.equal(errorOf(await both(none)).type, 'urn:b')
})

test('a failed call is retried with backoff until it succeeds or reaches its limit', async () => {
  let tries = 0
  const functions = {
    'skerry.test.flaky': async () => {
      if (++tries % 3 !== 0) throw new Raised({ type: 'urn:flaky', status: 503 })
      return { tries: tries % 3 === 0 ? 3 : tries }
    },
  }
  const tasks = (count: number) => `
- attempt:
    try: [ { call: { call: skerry.test.flaky } } ]
    catch:
      errors: { with: { status: 503 } }
      retry:
        delay: { milliseconds: 5 }
        backoff: { exponential: {} }
        jitter: { from: { milliseconds: 1 }, to: { milliseconds: 3 } }
        limit: { attempt: { count: ${count} } }`
  const end = await both(tasks(5), {}, () => ({ functions }))
  assert.deepEqual(outputOf(end), { tries: 3 })
  assert.equal(end.steps.filter(({ what }) => what === 'again').length, 2)
  assert.equal(
    new Set(end.calls.map(({ key }) => key)).size,
    3,
    'each attempt is a separate effect',
  )
  tries = 0
  assert.equal(errorOf(await once(tasks(1), {}, { functions })).type, 'urn:flaky')
})

test('a named retry with its own conditions, and a handler after the last attempt', async () => {
  const document = `document: { dsl: '1.0.0', namespace: test, name: named, version: '1.0.0' }
use:
  retries: { patient: { when: '$error.status == 503', delay: PT0.01S, backoff: { linear: {} }, limit: { attempt: { count: 2 } } } }
  errors: { away: { type: 'urn:away', status: 503, title: '\${ "away: \\(.who)" }' } }
do:
  - attempt:
      try: [ { fails: { raise: { error: away } } } ]
      catch: { retry: patient, do: [ { handled: { set: '\${ $error.title }' } } ] }
`
  const end = await runSmall(document, { who: 'Holm' }, { evaluator })
  assert.equal(outputOf(end), 'away: Holm')
  assert.equal(end.steps.filter(({ what }) => what === 'again').length, 2)
})

test('timeouts of a task, a workflow and an attempt end the work', async () => {
  const task = errorOf(
    await both(`- long: { wait: { minutes: 5 }, timeout: { after: { milliseconds: 40 } } }`),
  )
  assert.deepEqual([task.status, task.instance], [408, '/do/0/long'])
  assert.match(task.type, /errors\/timeout$/)
  const caught = await both(`
- attempt:
    try: [ { block: { do: [ { long: { wait: { minutes: 5 } } } ], timeout: { after: { milliseconds: 40 } } } } ]
    catch: { errors: { with: { status: 408 } }, do: [ { handled: { set: '\${ $error.instance }' } } ] }`)
  assert.equal(outputOf(caught), '/do/0/attempt/try/0/block')
  const attempt = await both(`
- attempt:
    try: [ { long: { wait: { minutes: 5 } } } ]
    catch:
      retry: { limit: { attempt: { count: 1, duration: { milliseconds: 30 } } } }
      do: [ { handled: { set: '"late"' } } ]`)
  assert.equal(outputOf(attempt), 'late')
  const whole =
    definitionOf('case', '- long: { wait: { minutes: 5 } }') +
    'timeout: { after: { milliseconds: 40 } }\n'
  assert.equal(errorOf(await runSmall(whole, {}, { evaluator })).status, 408)
})

test('endless runs are ended with an error: steps, items, values, depth, days', async () => {
  const cases: [string, string, Json, Partial<SmallOptions>, RegExp][] = [
    [
      'steps',
      '- again: { set: { a: 1 }, then: again }',
      {},
      { limits: { steps: 300 } },
      /maximum of 300 steps/,
    ],
    [
      'items',
      `- loop: { for: { in: '[range(20)]' }, do: [ { a: { set: 1 } } ] }`,
      {},
      { limits: { items: 10 } },
      /may have at most 10 items, this one has 20/,
    ],
    [
      'no list',
      `- loop: { for: { in: . }, do: [ { a: { set: 1 } } ] }`,
      {},
      {},
      /must return a list/,
    ],
    [
      'growth',
      `- grow: { set: { a: '\${ [.a, .a] }' }, then: grow }`,
      { a: 'x'.repeat(50_000) },
      {},
      /more than 262144 bytes|maximum of 524288 bytes/,
    ],
    [
      'retries',
      `- attempt: { try: [ { a: { raise: { error: { type: 'urn:x', status: 1 } } } } ], catch: { retry: { delay: PT0S } } }`,
      {},
      { limits: { steps: 200 } },
      /maximum of 200 steps/,
    ],
    [
      'days',
      `- rest: { wait: { days: 3 } }`,
      {},
      { limits: { runMs: 30 } },
      /exceeds the maximum of .* days/,
    ],
    [
      'listening',
      `- hear: { listen: { to: { one: { with: { type: never } } } } }`,
      {},
      { limits: { runMs: 30 } },
      /exceeds the maximum of .* days/,
    ],
    ['nowhere', '- a: { set: 1, then: elsewhere }', {}, {}, /no task elsewhere in the same list/],
  ]
  for (const [name, tasks, input, options, words] of cases) {
    const { detail } = errorOf(await once(tasks, input, options))
    assert.match(detail ?? '', words, name)
  }
  const child = '- inner: { run: { workflow: { namespace: a, name: b, version: latest } } }'
  assert.match(errorOf(await once(child, {}, { limits: { depth: 0 } })).detail ?? '', /0 deep/)
})
