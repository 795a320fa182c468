import assert from 'node:assert/strict'
import { test } from 'node:test'

import { places } from '../src/declaration.ts'
import { commandsIn, findCommand, nearest, nextWords } from '../src/find-command.ts'

const commands = ['list', 'share add', 'admin init', 'admin host list', 'admin host rm'].map(
  (name) => ({ name }),
)

test('a usage distinguishes required, optional and repeated arguments', () => {
  assert.deepEqual(places('VM [NAME] -- COMMAND...'), [
    { name: 'VM', needed: true, rest: false },
    { name: 'NAME', needed: false, rest: false },
    { name: 'COMMAND', needed: true, rest: true },
  ])
})

test('the longest name that a line begins with is the command', () => {
  assert.deepEqual(findCommand(commands, ['admin', 'host', 'list', '--json']), [
    { name: 'admin host list' },
    ['--json'],
  ])
  assert.deepEqual(findCommand(commands, ['list', 'a']), [{ name: 'list' }, ['a']])
  assert.deepEqual(nextWords(commands, ''), ['list', 'share', 'admin'])
  assert.deepEqual(nextWords(commands, 'admin'), ['init', 'host'])
  assert.deepEqual(nextWords(commands, 'admin host'), ['list', 'rm'])
  assert.deepEqual(nextWords(commands, 'list'), [])
  assert.equal(commandsIn(commands, 'admin').length, 3)
})

test('an unknown command names the closest one of its group', () => {
  const hintFor = (...line: readonly string[]) => {
    try {
      findCommand(commands, line)
    } catch (error) {
      return (error as { hint?: string }).hint
    }
    return undefined
  }
  assert.equal(hintFor('admin', 'hots', 'list'), 'did you mean skerry admin host?')
  assert.equal(hintFor('admin', 'host', 'lst'), 'did you mean skerry admin host list?')
  assert.equal(hintFor('admin', 'banana'), 'skerry admin --help lists all commands')
  assert.equal(hintFor('banana'), 'skerry help lists all commands')
})

test('a command with up to two typos is recognised, any other is not', () => {
  const words = ['list', 'start', 'stop', 'ip']
  assert.deepEqual(
    ['lst', 'strat', 'stpo', 'banana', 'x'].map((word) => nearest(word, words)),
    ['list', 'start', 'stop', undefined, undefined],
  )
})
