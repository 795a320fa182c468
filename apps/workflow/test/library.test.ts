import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'

import { fieldsOf, parseDefinition, drawWorkflow } from '@skerry/serverless-workflow'

import { functions } from '../src/functions/functions.ts'

const directory = `${import.meta.dirname}/../library`
const files = globSync('*.yaml', { cwd: directory }).toSorted()

const known = new Set(Object.keys(functions))

test('the library contains these files', () => {
  assert.deepEqual(files, ['nightly-snapshot.yaml', 'rolling-restart.yaml'])
})

for (const file of files)
  test(`${file} is a valid definition with titles and a drawing`, () => {
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
