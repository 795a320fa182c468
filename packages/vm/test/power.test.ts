// Goal: the table of power commands equals the contract, cell by cell.
// Method: the contract's table, written out manually.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { commandTo, decidePower, powerCommands, powerRules, powerStates } from '@skerry/vm'

const contract = {
  off: {
    on: 'go',
    off: 'nothing',
    shutdown: 'nothing',
    suspend: 'refuse',
    pause: 'refuse',
    unpause: 'refuse',
  },
  on: { on: 'nothing', off: 'go', shutdown: 'go', suspend: 'go', pause: 'go', unpause: 'nothing' },
  paused: {
    on: 'refuse',
    off: 'go',
    shutdown: 'refuse',
    suspend: 'go',
    pause: 'nothing',
    unpause: 'go',
  },
  suspended: {
    on: 'go',
    off: 'refuse',
    shutdown: 'refuse',
    suspend: 'nothing',
    pause: 'refuse',
    unpause: 'refuse',
  },
} as const

for (const [state, cells] of Object.entries(contract)) {
  for (const [command, decision] of Object.entries(cells)) {
    test(`${command} when ${state}: ${decision}`, () => {
      assert.equal(decidePower(state as never, command as never), decision)
    })
  }
}

test('reset and reboot need a running guest, and are never already done', () => {
  for (const state of powerStates) {
    assert.equal(decidePower(state, 'reboot'), state === 'on' ? 'go' : 'refuse')
    assert.equal(
      decidePower(state, 'reset'),
      state === 'on' || state === 'paused' ? 'go' : 'refuse',
    )
  }
})

test('a command that leads to a goal is allowed', () => {
  for (const goal of powerStates) {
    for (const now of powerStates) {
      const command = commandTo(goal, now)
      if (command === 'nothing') assert.equal(now, goal)
      else if (command) {
        assert.ok(powerRules[command].from.includes(now))
        assert.equal(powerRules[command].to, goal)
      }
    }
  }
  assert.equal(commandTo('on', 'paused'), 'unpause')
  assert.equal(commandTo('off', 'on'), 'off')
  assert.equal(commandTo('off', 'suspended'), undefined)
  assert.equal(powerCommands.length, 8)
})
