import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bareExpression, isExpression } from '../src/definition/expression.ts'
import { interactionOf, listedTasks, sortTask, type Task } from '../src/definition/task.ts'

const each: Record<string, Task> = {
  do: { do: [] },
  set: { set: { colour: 'red' } },
  switch: JSON.parse('{"switch":[{"other":{"then":"end"}}]}') as Task,
  for: { for: { in: '.colours' }, do: [] },
  fork: { fork: { branches: [] } },
  try: { try: [], catch: {} },
  wait: { wait: 'PT1S' },
  listen: { listen: { to: { one: { with: { type: 'done' } } } } },
  raise: { raise: { error: { type: 'https://example.test/no', status: 400 } } },
  run: { run: { workflow: { namespace: 'a', name: 'b', version: 'latest' } } },
  http: { call: 'http', with: { method: 'get', endpoint: 'https://example.test' } },
  function: { call: 'skerry.vm.powerOn', with: { vm: 'x' } },
}

for (const [kind, task] of Object.entries(each))
  test(`a ${kind} task is recognized`, () => {
    assert.equal(sortTask(task).kind, kind)
  })

test('a task is identified by its place', () => {
  const list = [{ 'a/b': each['set']! }, { c: each['wait']! }]
  assert.deepEqual(
    listedTasks(list, '/do').map(({ name, place }) => [name, place]),
    [
      ['a/b', '/do/0/a~1b'],
      ['c', '/do/1/c'],
    ],
  )
})

test('an expression spans a whole text, and its wrapping is removed', () => {
  assert.ok(isExpression('${ .a }'))
  assert.ok(!isExpression('see ${ .a }'))
  assert.ok(!isExpression('.a'))
  assert.equal(bareExpression(' ${ .a + "}" } '), '.a + "}"')
  assert.equal(bareExpression('.a == 1'), '.a == 1')
})

test('a listen task with an interaction asks a user', () => {
  const interaction = { title: 'Go on?', form: { type: 'object' } }
  const to = { one: { with: { type: 'skerry.interaction' } } }
  assert.deepEqual(interactionOf({ listen: { to }, metadata: { interaction } }), interaction)
  assert.equal(interactionOf({ listen: { to } }), undefined)
})
