// Goal: any hostile expression ends soon with an error, and the next one works. Method: the real jq in real threads; most of these
// use up their processor time, so that this is not part of `npm run check`.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { startEvaluator } from '../src/evaluate.ts'
import type { Evaluated } from '../src/json.ts'

const evaluator = startEvaluator({ cpuMs: 500 })
after(async () => evaluator[Symbol.asyncDispose]())

async function evaluate(expression: string): Promise<Evaluated> {
  const [answer] = await evaluator.evaluate({
    expressions: [expression],
    on: { a: 1 },
    variables: {},
  })
  return answer ?? assert.fail('no answer')
}

test('an expression that exhausts time or memory is terminated, and the next one works', async (t) => {
  const hostile: [string, RegExp][] = [
    ['[range(1e12)]', /more than 0.5 s|memory limit/],
    ['def f: f; f', /more than 0.5 s/],
    ['def f: 1 + f; f', /more than 0.5 s|memory limit/],
    ['last(range(1e15))', /more than 0.5 s/],
    ['"a" * 1000000000', /memory limit/],
    [
      '[limit(1e9; repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))] | add',
      /more than|memory limit/,
    ],
    ['"x" * 300000', /more than 262144 bytes/],
    ['debug | [range(1e5)] | debug | debug | length', /more than 262144 bytes/],
    ['reduce range(1e7) as $i ([]; [.])', /more than|memory limit/],
    ['"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" | test("(x+x+)+(x+x+)+y")', /more than|./],
    ['.'.repeat(9_000), /may have at most 8192 bytes/],
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
    assert.ok('wrong' in answer, JSON.stringify(answer))
    assert.match(answer.wrong, words, expression.slice(0, 60))
    assert.ok(performance.now() - began < 20_000, expression.slice(0, 60))
    assert.deepEqual(await evaluate('.a'), { value: 1 }, `after ${expression.slice(0, 60)}`)
  }
  t.diagnostic(`${hostile.length} hostile expressions, each with an error`)
})
