// Goal: the engine may die at any moment. Method: kill -9 its process during any operation of its clients; the next one must
// repair the host, and repeated requests must succeed.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import { killDriven, runStorm } from './storm.ts'

test('the engine is killed twelve times: guests continue, errands are done, nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  const figures = await runStorm({
    seed: 5,
    kills: 12,
    guests: 2,
    kill: killDriven,
    start: startEngine,
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(JSON.stringify(figures))
})
