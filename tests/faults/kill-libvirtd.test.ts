// Goal: libvirtd may die at any moment, as often as it likes. Method: kill -9 it during whatever clients happen to do,
// and look from outside at what is left, and from inside at guests that nobody asked to stop.
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonToSkip } from '@skerry/lab'

import { runStorm } from './storm.ts'

test('libvirtd is killed ten times: guests go on, errands are done, nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  const figures = await runStorm({
    seed: 3,
    kills: 10,
    guests: 2,
    kill: async ({ host }, chance) => {
      await host.killLibvirt()
      await sleep(chance.between(0, 1500))
      await host.startLibvirt()
    },
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(JSON.stringify(figures))
})
