import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'

import { fieldsOf } from '../src/definition/inputs.ts'
import { parseDefinition } from '../src/definition/parse.ts'
import { drawWorkflow } from '../src/drawing/draw.ts'

const directory = `${import.meta.dirname}/../library`
const files = globSync('*.yaml', { cwd: directory }).toSorted()

/** What the shipped workflows call; the worker's own table holds them to be there. */
const functions = new Set([
  ...['skerry.vapp.get', 'skerry.vm.createSnapshot', 'skerry.vm.shutdown', 'skerry.vm.powerOff'],
  ...['skerry.vm.powerOn', 'skerry.vm.waitHealthy'],
])

test('these are shipped', () => {
  assert.deepEqual(files, ['nightly-snapshot.yaml', 'rolling-restart.yaml'])
})

for (const file of files)
  test(`${file} is a definition that can be run, explained and drawn`, () => {
    const parsed = parseDefinition(readFileSync(`${directory}/${file}`, 'utf8'), functions)
    assert.ok('definition' in parsed, JSON.stringify(parsed, undefined, 2))
    const { definition } = parsed
    assert.equal(definition.name, basename(file, '.yaml'))
    assert.equal(definition.namespace, 'skerry')
    assert.ok(definition.summary.length > 100)
    for (const { name, schema } of fieldsOf(definition.input))
      assert.equal(typeof schema['title'], 'string', `${name} has a title`)
    assert.match(drawWorkflow(definition), /^<\?xml/)
  })
