// Goal: our own process may die at any moment. Method: kill -9 it during whatever clients happen to do, start the next
// one at once, and look from outside at what is left.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import { runStorm } from './storm.ts'

test('the engine is killed ten times: guests go on, errands are done, nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  const figures = await runStorm({
    seed: 5,
    kills: 10,
    guests: 2,
    kill: async (scene) => {
      await (await scene.engine).kill()
      scene.engine = startEngine(scene.host)
      await scene.engine
    },
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(JSON.stringify(figures))
})
