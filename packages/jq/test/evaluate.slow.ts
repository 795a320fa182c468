// Goal: expressions give jq's results, and see nothing else. Method: the real jq in real threads.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { startEvaluator } from '../src/evaluate.ts'
import { standsWithOthers } from '../src/jq-program.ts'
import type { Evaluated, Json, JsonObject } from '../src/json.ts'

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

test('one result is the value, no result is null, several are a list', async () => {
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

test('variables have the given values', async () => {
  const variables = { item: { name: 'x' }, index: 3, context: null }
  const answer = await evaluate('[$item.name, $index, $context, .]', 'dot', variables)
  assert.deepEqual(valueOf(answer), ['x', 3, null, 'dot'])
  assert.match(wrongOf(await evaluate('$secrets')), /\$secrets is not defined/)
})

test('several expressions return results in order, and a failing one does not affect the others', async () => {
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

test('an expression cannot affect its neighbours', async () => {
  const expressions = ['1], [2', '3']
  assert.equal(standsWithOthers('1], [2'), false)
  const answers = await evaluator.evaluate({ expressions, on: null, variables: {} })
  assert.equal(valueOf(answers[1]), 3)
  for (const alone of ['"', '(', '{)', '# x', '"\\(1)"', 'import "a" as a; 1'])
    assert.equal(standsWithOthers(alone), false, alone)
  for (const together of ['.a[0]', '"a ) b"', '{a: [1, (2)]}', '.a // "x"'])
    assert.equal(standsWithOthers(together), true, together)
})

test('an expression sees nothing of the machine', async () => {
  assert.deepEqual(valueOf(await evaluate('[env, $ENV, [inputs], input_filename]')), [
    {},
    {},
    [],
    null,
  ])
  assert.equal(valueOf(await evaluate('$__loc__.file')), '<top-level>')
})

test('input above the limit is rejected before jq', async () => {
  const large = 'x'.repeat(5 * 1024 * 1024)
  assert.match(wrongOf(await evaluate('.', large)), /may have at most 4194304 bytes/)
  const [largest] = await evaluator.evaluate({
    expressions: ['length'],
    variables: {},
    on: 'x'.repeat(3 * 1024 * 1024),
  })
  assert.equal(valueOf(largest), 3 * 1024 * 1024)
})

test('the total result of one task’s expressions is bounded', async () => {
  const expressions = Array.from({ length: 6 }, () => '"x" * 250000')
  const answers = await evaluator.evaluate({ expressions, on: null, variables: {} })
  for (const answer of answers) assert.match(wrongOf(answer), /return more than 1048576 bytes/)
})

test('concurrent evaluations get their own results', async (t) => {
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

test('a value is validated by a JSON Schema, and a hostile schema is terminated', async () => {
  const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  assert.deepEqual(await evaluator.validate(schema, { name: 'x' }), [])
  assert.deepEqual(await evaluator.validate(schema, { name: 1 }), ['/name must be string'])
  const doubled = Array.from({ length: 40 }, (_, n) => {
    const below = { $ref: `#/$defs/d${n}` }
    return [`d${n + 1}`, { allOf: [below, below] }] as const
  })
  const slow = { $ref: '#/$defs/d40', $defs: { d0: {}, ...Object.fromEntries(doubled) } }
  const [late] = await evaluator.validate(slow, 1)
  assert.match(late ?? '', /could not be validated in time/)
  const endless = { $ref: '#' }
  assert.match((await evaluator.validate(endless, 1))[0] ?? '', /could not be validated/)
})
