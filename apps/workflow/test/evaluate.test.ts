// Goal: expressions answer as jq does, and whatever somebody writes ends, soon and with words. Method: the real jq in real threads.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import type { Evaluated, Json, JsonObject } from '../src/durable/verbs.ts'
import { startEvaluator } from '../src/worker/evaluate.ts'
import { standsWithOthers } from '../src/worker/jq-program.ts'

const evaluator = startEvaluator({ cpuMs: 500 })
after(async () => evaluator[Symbol.asyncDispose]())

async function evaluate(expression: string, on: Json = { a: 1 }, variables: JsonObject = {}) {
  const [answer] = await evaluator.evaluate({ expressions: [expression], on, variables })
  return answer ?? assert.fail('no answer')
}
const valueOf = (answer: Evaluated | undefined) =>
  answer !== undefined && 'value' in answer ? answer.value : assert.fail(JSON.stringify(answer))
const wrongOf = (answer: Evaluated | undefined) =>
  answer !== undefined && 'wrong' in answer ? answer.wrong : assert.fail(JSON.stringify(answer))

test('an expression gives its value, none gives null, several give their list', async () => {
  const cases: [string, Json][] = [
    ['.a', 1],
    ['.nothing.at.all', null],
    ['empty', null],
    ['1, 2', [1, 2]],
    ['{b: .a} | .b += 1', { b: 2 }],
    ['[range(3)] | map(. * 2) # with a comment', [0, 2, 4]],
    ['def twice: . * 2; .a | twice', 2],
    ['"\\(.a) and ü"', '1 and ü'],
  ]
  for (const [expression, value] of cases) {
    assert.deepEqual(valueOf(await evaluate(expression)), value, expression)
  }
})

test('variables are what they are said to be', async () => {
  const variables = { item: { name: 'x' }, index: 3, context: null }
  const answer = await evaluate('[$item.name, $index, $context, .]', 'dot', variables)
  assert.deepEqual(valueOf(answer), ['x', 3, null, 'dot'])
  assert.match(wrongOf(await evaluate('$secrets')), /\$secrets is not defined/)
})

test('several expressions are answered in their order, and one that fails spoils no other', async () => {
  const ask = { on: { a: 'text' }, variables: {} }
  const good = await evaluator.evaluate({
    ...ask,
    expressions: ['.a', '.b', '(.a | length)', '1,2'],
  })
  assert.deepEqual(good.map(valueOf), ['text', null, 4, [1, 2]])
  const mixed = await evaluator.evaluate({
    ...ask,
    expressions: ['.a', '.a.b', ']', 'halt', 'def f: f; f', '.a | # all'],
  })
  assert.equal(valueOf(mixed[0]), 'text')
  assert.equal(wrongOf(mixed[1]), 'Cannot index string with string "b"')
  assert.match(wrongOf(mixed[2]), /syntax error/)
  assert.equal(valueOf(mixed[3]), null)
  assert.match(wrongOf(mixed[4]), /takes more than 0.5 s/)
  assert.match(wrongOf(mixed[5]), /syntax error/)
})

test('an expression cannot reach into its neighbour', async () => {
  const expressions = ['1], [2', '3']
  assert.equal(standsWithOthers('1], [2'), false)
  const answers = await evaluator.evaluate({ expressions, on: null, variables: {} })
  assert.equal(valueOf(answers[1]), 3)
  for (const alone of ['"', '(', '{)', '# x', '"\\(1)"', 'import "a" as a; 1'])
    assert.equal(standsWithOthers(alone), false, alone)
  for (const together of ['.a[0]', '"a ) b"', '{a: [1, (2)]}', '.a // "x"'])
    assert.equal(standsWithOthers(together), true, together)
})

test('what would take all the time or memory there is ends, and the next is answered', async (t) => {
  const hostile: [string, RegExp][] = [
    ['[range(1e12)]', /more than 0.5 s|more memory/],
    ['def f: f; f', /more than 0.5 s/],
    ['def f: 1 + f; f', /more than 0.5 s|more memory/],
    ['last(range(1e15))', /more than 0.5 s/],
    ['"a" * 1000000000', /more memory/],
    [
      '[limit(1e9; repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))] | add',
      /more than|more memory/,
    ],
    ['"x" * 300000', /more than 262144 bytes/],
    ['debug | [range(1e5)] | debug | debug | length', /more than 262144 bytes/],
    ['reduce range(1e7) as $i ([]; [.])', /more than|more memory/],
    ['"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" | test("(x+x+)+(x+x+)+y")', /more than|./],
    ['.'.repeat(9_000), /may have 8192 bytes/],
    ['('.repeat(4_000), /./],
    ['['.repeat(3_000) + ']'.repeat(3_000), /./],
    ['input', /./],
    ['error("mine")', /^mine$/],
    ['import "/etc/passwd" as $x; 1', /./],
    ['include "x"; 1', /./],
    ['@sh', /can not be escaped for shell/],
    ['halt_error', /./],
    ['$__prog_args', /not defined/],
    ['\u0000', /./],
  ]
  for (const [expression, words] of hostile) {
    const began = performance.now()
    const answer = await evaluate(expression)
    assert.match(wrongOf(answer), words, expression.slice(0, 60))
    assert.ok(performance.now() - began < 20_000, expression.slice(0, 60))
    assert.equal(valueOf(await evaluate('.a')), 1, `after ${expression.slice(0, 60)}`)
  }
  t.diagnostic(`${hostile.length} hostile expressions, each told why not`)
})

test('nothing of this machine is seen', async () => {
  assert.deepEqual(valueOf(await evaluate('[env, $ENV, [inputs], input_filename]')), [
    {},
    {},
    [],
    null,
  ])
  assert.equal(valueOf(await evaluate('$__loc__.file')), '<top-level>')
})

test('data beyond its limit is refused before it reaches jq', async () => {
  const large = 'x'.repeat(5 * 1024 * 1024)
  assert.match(wrongOf(await evaluate('.', large)), /may be given 4194304 bytes/)
  const [largest] = await evaluator.evaluate({
    ...{ expressions: ['length'], variables: {}, on: 'x'.repeat(3 * 1024 * 1024) },
  })
  assert.equal(valueOf(largest), 3 * 1024 * 1024)
})

test('what the expressions of one task give together is bounded too', async () => {
  const expressions = Array.from({ length: 6 }, () => '"x" * 250000')
  const answers = await evaluator.evaluate({ expressions, on: null, variables: {} })
  for (const answer of answers) assert.match(wrongOf(answer), /give more than 1048576 bytes/)
})

test('many at once each get their own answer', async (t) => {
  await evaluate('.')
  const began = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => evaluate('. + 1', n)),
  )
  t.diagnostic(`${((performance.now() - began) / 200).toFixed(1)} ms each, with two threads`)
  assert.deepEqual(
    answers.map(valueOf),
    Array.from({ length: 200 }, (_, n) => n + 1),
  )
})

test('a value is looked at by a JSON Schema, and a hostile schema ends too', async () => {
  const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  assert.deepEqual(await evaluator.validate(schema, { name: 'x' }), [])
  assert.deepEqual(await evaluator.validate(schema, { name: 1 }), ['/name must be string'])
  const slow = { pattern: '^(a+)+$' }
  const [told] = await evaluator.validate(slow, `${'a'.repeat(40)}!`)
  assert.match(told ?? '', /could not be looked at in time/)
  const endless = { $ref: '#' }
  assert.match((await evaluator.validate(endless, 1))[0] ?? '', /could not be looked at/)
})
