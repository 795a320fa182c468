// Goal: unforeseen damage is reported too. Method: a thousand definitions and a thousand archives, each a valid one with random
// damage; the seed is printed, so that a failure can be reproduced.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parseDefinition, drawWorkflow } from '@skerry/serverless-workflow'

import {
  functions,
  head,
  supported,
} from '../../../packages/serverless-workflow/test/subset-examples.ts'
import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { readArchive } from '../src/archive/read.ts'
import { writeArchive } from '../src/archive/write.ts'

const COUNT = 1000

const pieces = [
  'do:',
  'then: end',
  '- ',
  '{',
  '}',
  '[',
  ']',
  '${ ',
  ' }',
  "'",
  '"',
  ': ',
  '&a ',
  '*a',
  '!!x ',
  '|',
  '>',
  '#',
  '\t',
  '\n',
  'null',
  '~',
  '-1',
  '1e99',
  '__proto__: 1',
  'call: http',
  'run: {shell: {command: ls}}',
  'emit: {}',
  '\u0000',
  '😀',
  '? ',
  '---\n',
]

function damaged(text: string, random: () => number): string {
  let result = text
  const changes = 1 + Math.floor(random() * 4)
  for (let change = 0; change < changes; change += 1) {
    const at = Math.floor(random() * result.length)
    const piece = pieces[Math.floor(random() * pieces.length)] ?? ''
    const cut = random() < 0.5 ? Math.floor(random() * 12) : 0
    result = result.slice(0, at) + (random() < 0.7 ? piece : '') + result.slice(at + cut)
  }
  return result
}

test('a thousand damaged definitions are rejected or still valid', (context) => {
  let rejected = 0
  for (let seed = 1; seed <= COUNT; seed += 1) {
    const random = seededRandom(seed).fraction
    const { example } = supported[Math.floor(random() * supported.length)]!
    const text = damaged(head('1.0.3') + example, random)
    const start = process.cpuUsage()
    const parsed = parseDefinition(text, functions)
    // An accepted definition can be drawn: it matches the types.
    if ('definition' in parsed) drawWorkflow(parsed.definition)
    else {
      rejected += 1
      assert.ok(parsed.complaints.length > 0, `seed ${seed}`)
      assert.ok(parsed.complaints.every(({ line, column }) => line >= 1 && column >= 1))
    }
    const { user, system } = process.cpuUsage(start)
    assert.ok(user + system < 1e6, `seed ${seed}`)
  }
  context.diagnostic(`${rejected} of ${COUNT} rejected`)
  assert.ok(rejected > COUNT / 2)
})

test('a thousand damaged archives are rejected or unchanged in content', async (context) => {
  const workflow = {
    id: 'a',
    name: 'A',
    description: '',
    folder: 'F',
    version: '1.0.0',
    tags: ['x'],
    text: `${head()}do: []\n`,
    form: { type: 'object' },
  }
  const good = await writeArchive(workflow)
  let rejected = 0
  for (let seed = 1; seed <= COUNT; seed += 1) {
    const random = seededRandom(seed).fraction
    const bytes = Buffer.from(good)
    const changes = 1 + Math.floor(random() * 3)
    for (let change = 0; change < changes; change += 1)
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
    const cut = random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes
    const read = readArchive(cut)
    if ('complaints' in read) rejected += 1
    else assert.deepEqual(read.workflow, workflow, `seed ${seed}`)
  }
  context.diagnostic(`${rejected} of ${COUNT} rejected`)
  assert.ok(rejected > COUNT / 2)
})
