import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'

import { fieldsOf } from '../src/definition/inputs.ts'
import { parseDefinition } from '../src/definition/parse.ts'
import { drawWorkflow } from '../src/drawing/draw.ts'
import { functions } from '../src/worker/functions.ts'

const directory = `${import.meta.dirname}/../library`
const files = globSync('*.yaml', { cwd: directory }).toSorted()

const known = new Set(Object.keys(functions))

test('these are shipped', () => {
  assert.deepEqual(files, ['nightly-snapshot.yaml', 'rolling-restart.yaml'])
})

for (const file of files)
  test(`${file} is a definition that can be run, explained and drawn`, () => {
    const parsed = parseDefinition(readFileSync(`${directory}/${file}`, 'utf8'), known)
    assert.ok('definition' in parsed, JSON.stringify(parsed, undefined, 2))
    const { definition } = parsed
    assert.equal(definition.name, basename(file, '.yaml'))
    assert.equal(definition.namespace, 'skerry')
    assert.ok(definition.summary.length > 100)
    for (const { name, schema } of fieldsOf(definition.input))
      assert.equal(typeof schema['title'], 'string', `${name} has a title`)
    assert.match(drawWorkflow(definition), /^<\?xml/)
  })
