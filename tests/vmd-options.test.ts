// Goal: `skerry help vmd` tells of the options that the daemon has, in its words. Method: the two texts side by side.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { commands } from '../apps/cli/src/commands.ts'
import { optionRows } from '../apps/cli/src/help.ts'
import { readConfig, usage } from '../apps/vmd/src/config.ts'

test('the command line tells of every option of the daemon as the daemon does', () => {
  const told = commands.find(({ name }) => name === 'vmd')?.options ?? {}
  const own = usage.split('\n').filter((line) => line.startsWith('  --'))
  assert.deepEqual(
    optionRows(told).map(([option, doc]) => `  ${option.padEnd(22)}  ${doc}`),
    own,
  )
  for (const option of Object.keys(told)) {
    // An option that the daemon does not know would be the first thing that it complains of.
    assert.doesNotThrow(() => {
      try {
        readConfig([`--${option}`, 'x'], {})
      } catch (error) {
        if (/Unknown option/.test((error as Error).message)) throw error
      }
    })
  }
})
