import assert from 'node:assert/strict'
import { test } from 'node:test'

import { closeTab, CONSOLES_MAX, noConsoles, openTab } from '../src/model/console-tabs.ts'

const opened = (...ids: readonly string[]) =>
  ids.reduce((tabs, id) => openTab(tabs, id) ?? assert.fail(`${id} was not opened`), noConsoles)

test('a console that is open is shown, not opened again', () => {
  assert.deepEqual(openTab(opened('a', 'b'), 'a'), { ids: ['a', 'b'], current: 'a' })
})

test('there is a limit, which does not count those that are open', () => {
  const full = opened('a', 'b', 'c', 'd')
  assert.equal(full.ids.length, CONSOLES_MAX)
  assert.equal(openTab(full, 'e'), undefined)
  assert.equal(openTab(full, 'b')?.current, 'b')
})

test('closing the one that is shown shows its neighbour', () => {
  const three = opened('a', 'b', 'c')
  assert.deepEqual(closeTab(three, 'c'), { ids: ['a', 'b'], current: 'b' })
  assert.deepEqual(closeTab({ ...three, current: 'a' }, 'a'), { ids: ['b', 'c'], current: 'b' })
  assert.deepEqual(closeTab(three, 'a'), { ids: ['b', 'c'], current: 'c' })
  assert.deepEqual(closeTab(opened('a'), 'a'), noConsoles)
})
