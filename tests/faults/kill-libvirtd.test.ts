// Goal: libvirtd may die at any moment, any number of times. Method: kill -9 it during any operation of clients, and inspect the
// leftovers from outside, and from inside the guests that no client asked to stop. If you are here because this failed: the
// message has the seed and the engine's log; `npm run prove:kill-libvirtd -- --seed N --kills 10 --guests 2` runs the same again.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import { killLibvirtd } from './kill-libvirtd.ts'
import { runStorm } from './storm.ts'

test('libvirtd is killed ten times: guests continue, errands are done, nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  const figures = await runStorm({
    seed: 3,
    kills: 10,
    guests: 2,
    kill: killLibvirtd,
    start: startEngine,
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(JSON.stringify(figures))
})
