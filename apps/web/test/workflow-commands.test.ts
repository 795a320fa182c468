// Goal: the line for a terminal shows no secret that is masked in its field. Method: forms with a secret at every place that a schema allows.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { FormSchema } from '../src/model/workflows/schema-form.ts'
import { hasSecrets, isSecretInput } from '../src/model/workflows/schema-secrets.ts'
import {
  answerCommand,
  runCommand,
  scheduleCommand,
} from '../src/model/workflows/workflow-commands.ts'

const secret = { type: 'string', format: 'password' }
const object = (properties: FormSchema['properties'] = {}) => ({ type: 'object', properties })

test('a secret is a file in every command, also one inside an object or a list', () => {
  const schema = object({
    name: { type: 'string' },
    password: secret,
    login: object({ user: { type: 'string' }, deep: object({ key: secret }) }),
    keys: { type: 'array', items: secret },
  })
  const value = {
    name: 'web',
    password: 'hunter2',
    login: { user: 'ann', deep: { key: 'hunter2' } },
    keys: ['hunter2'],
    unknown: 'hunter2',
  }
  const form = { schema, value }
  const inputs =
    '--input name=web --input password=@FILE --input login=@FILE --input keys=@FILE --input unknown=@FILE'
  assert.equal(runCommand('Greet', form), `skerry workflow run Greet ${inputs} --wait`)
  assert.equal(answerCommand('Greet', '7', form), `skerry workflow answer Greet 7 ${inputs}`)
  const times = { cron: '@daily', 'time-zone': 'UTC' }
  assert.ok(!scheduleCommand('Greet', { times, title: 'x' }, form).includes('hunter2'))
})

test('a form without secrets is written as it is filled in, and one with errors has no inputs', () => {
  const schema = object({ tags: { type: 'array', items: { type: 'string' } } })
  const line = `skerry workflow run Greet --input 'tags=["a b"]' --wait`
  assert.equal(runCommand('Greet', { schema, value: { tags: ['a b'] } }), line)
  assert.equal(
    runCommand('Greet', { schema, value: undefined }),
    'skerry workflow run Greet --wait',
  )
  assert.equal(hasSecrets(schema), false)
})

test('a schema that names another one is secret where the form has a secret', () => {
  const parts = { $defs: { login: secret }, ...object({ a: { type: 'string' } }) }
  const properties = { ...parts.properties, b: { $ref: '#/$defs/login' } }
  const form = { ...parts, properties } as FormSchema
  assert.deepEqual([isSecretInput(form, 'a'), isSecretInput(form, 'b')], [false, true])
  assert.equal(isSecretInput(form, 'constructor'), true)
})
