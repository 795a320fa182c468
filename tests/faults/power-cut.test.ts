// Goal: a host may lose power at any moment. Method: cut it at chosen moments of a clone, a snapshot and a suspend, and inspect
// the images and leftovers from outside; finally the guest itself checks its data.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { CutHost, trials, type Trial } from './power-cut.ts'

test('after a power cut the images of a host are consistent, and nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using host = await CutHost.start()
  const random = seededRandom(7)
  const chosen: Trial[] = [
    // The first happens during the writes of a fully booted guest.
    trials.cloneOfRunning,
    trials.cloneOfRunning,
    trials.cloneOfOff,
    trials.cloneOfOff,
    trials.snapshotWithMemory,
    trials.snapshotWithMemory,
    trials.snapshotOfRunning,
    trials.snapshotOfOff,
    trials.revert,
    trials.suspend,
  ]
  for (const trial of chosen) await host.run(trial, random.between(0, trial.lastsMs))
  await host.assertGuestRemembers()
  t.diagnostic(`${host.interrupted} of ${chosen.length} cuts came before the answer`)
})
