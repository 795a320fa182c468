// Goal: whatever dies, all that was accepted comes to its end, once, and nobody has to help. Method: tenants make, power and
// delete VMs with real guests by either cell and by the balancer, repeating what was not answered with the same key, while
// cells, vmd, libvirtd, QEMU, Postgres and Temporal are killed; then Postgres, libvirt, files and events are compared.
// If you are here because this failed: the message says what does not hold; `npm run prove:cloud-storm -- --seed N
// --operations 40 --kills 8 --keep DIRECTORY` runs the same again and keeps the logs.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonToSkip, reasonWithoutTemporal } from '@skerry/lab'

import { runCloudStorm, TAKEN_OVER_MS } from './cloud-storm.ts'
import { killable } from './cloud/kills.ts'
import { spread } from './cloud/weather.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const seed = Number(process.env['SKERRY_SEED'] ?? 7)

test(
  'forty operations and eight SIGKILLs over all that a cloud stands on: each ends once, and what is there is what is known',
  { skip },
  async (t) => {
    t.diagnostic(`seed ${seed}`)
    const figures = await runCloudStorm({
      seed,
      weather: (draw, sky) => spread({ operations: 40, kills: 8 }, draw, sky),
      say: (line) => t.diagnostic(line),
    })
    t.diagnostic(JSON.stringify(figures))
    assert.equal(figures.operations, 40)
    assert.deepEqual(Object.keys(figures.kills).sort(), [...killable].sort())
    await t.test('a dead cell’s work is taken over within 15 s', () => {
      assert.ok(figures.takenOverMs.length > 0)
      for (const ms of figures.takenOverMs) assert.ok(ms <= TAKEN_OVER_MS, `${ms} ms`)
    })
  },
)
