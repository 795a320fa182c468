// Goal: `skerry help vmd` documents the daemon's options in the daemon's words. Method: the two texts side by side.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { commands } from '../apps/cli/src/commands.ts'
import { optionRows } from '../apps/cli/src/help/help.ts'
import { readConfig, usage } from '../apps/vmd/src/config.ts'

test('the command line documents every option of the daemon in the same words', () => {
  const documented = commands.find(({ name }) => name === 'vmd')?.options ?? {}
  const own = usage.split('\n').filter((line) => line.startsWith('  --'))
  assert.deepEqual(
    optionRows(documented).map(([option, doc]) => `  ${option.padEnd(22)}  ${doc}`),
    own,
  )
  for (const option of Object.keys(documented)) {
    // An unknown option would be the first error of the daemon.
    assert.doesNotThrow(() => {
      try {
        readConfig([`--${option}`, 'x'], {})
      } catch (error) {
        if (/Unknown option/.test((error as Error).message)) throw error
      }
    })
  }
})
