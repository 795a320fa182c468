import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

import { startEvaluator } from '@skerry/jq'
import { parseAndCompile } from '@skerry/serverless-workflow'

import { head, supported } from '../../../packages/serverless-workflow/test/subset-examples.ts'
import { functions } from '../src/functions/functions.ts'

const ours = new Set(Object.keys(functions))

test('jq compiles expressions without running them', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const parsed = await parseAndCompile(
    `${head('1.0.3')}do:
  - good:
      set: { a: '\${ $context.a // "\\(.b)" # a comment }' }
  - endless:
      set: '\${ def f: f; f }'
  - known:
      if: $unknown.name == 1
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
    parsed.complaints.map(({ line, message }) => `${line} ${message.slice(0, 50)}`),
    [
      '13 jq cannot compile the expression: wrong_function/0',
      '15 jq cannot compile the expression: syntax error, un',
    ],
  )
})

test('jq compiles the library workflows and the examples', async () => {
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
