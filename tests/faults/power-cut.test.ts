// Goal: a host may lose power at any moment. Method: cut it at chosen moments of a clone, a snapshot and a suspend, and look
// from outside at the images and at what is left over; the guest itself has the last word.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { chance } from './chance.ts'
import { CutHost, trials, type Trial } from './power-cut.ts'

test('a host that loses power has whole images afterwards, and nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using host = await CutHost.start()
  const random = chance(7)
  const chosen: Trial[] = [
    // The first falls among the writes of a guest that is fully there.
    ...[trials.cloneOfRunning, trials.cloneOfRunning, trials.cloneOfOff, trials.cloneOfOff],
    ...[trials.snapshotWithMemory, trials.snapshotWithMemory, trials.snapshotOfRunning],
    ...[trials.snapshotOfOff, trials.revert, trials.suspend],
  ]
  for (const trial of chosen) await host.run(trial, random.between(0, trial.lastsMs))
  await host.assertGuestRemembers()
  t.diagnostic(`${host.interrupted} of ${chosen.length} cuts came before the answer`)
})
