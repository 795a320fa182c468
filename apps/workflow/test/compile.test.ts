import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

import { parseAndCompile } from '../src/definition/parse.ts'
import { startEvaluator } from '../src/worker/evaluate.ts'
import { functions } from '../src/worker/functions.ts'
import { head, supported } from './subset-examples.ts'

const ours = new Set(Object.keys(functions))

test('expressions are compiled by jq, and never run', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const parsed = await parseAndCompile(
    `${head('1.0.3')}do:
  - good:
      set: { a: '\${ $context.a // "\\(.b)" # a comment }' }
  - endless:
      set: '\${ def f: f; f }'
  - known:
      if: $nobody.knows == 1
      set: { a: '\${ .a | wrong_function }' }
  - syntax:
      set: { a: '\${ .a | | .b }' }
  - halts:
      set: { a: '\${ halt_error }' }
`,
    ours,
    evaluator.evaluate,
  )
  assert.ok('complaints' in parsed)
  assert.deepEqual(
    parsed.complaints.map(({ line, message }) => `${line} ${message.slice(0, 48)}`),
    [
      '13 jq can not read the expression: wrong_function/0',
      '15 jq can not read the expression: syntax error, un',
    ],
  )
})

test('what is shipped and shown is compiled by jq', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const library = `${import.meta.dirname}/../library`
  const texts = [
    ...globSync('*.yaml', { cwd: library }).map((file) =>
      readFileSync(`${library}/${file}`, 'utf8'),
    ),
    ...supported.map(({ example }) => head() + example),
  ]
  for (const text of texts) {
    const parsed = await parseAndCompile(text, ours, evaluator.evaluate)
    assert.ok('definition' in parsed, JSON.stringify(parsed))
  }
})
