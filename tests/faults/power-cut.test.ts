// Goal: a host may lose power in the middle of anything. Method: cut it at moments drawn by chance, start it again,
// and look at every image, file and domain there is.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { runCuts, scenes } from './power-cuts.ts'

test('power is cut during clone, snapshot and delete: images are whole, nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  const all = [...scenes.clone, ...scenes.snapshot, ...scenes.delete]
  const figures = await runCuts({
    seed: 7,
    scenes: all,
    cuts: 2,
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(JSON.stringify(figures))
})
