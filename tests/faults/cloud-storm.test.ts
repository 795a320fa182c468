// Goal: whatever dies, every accepted operation ends, once, without intervention. Method: tenants create, power and delete VMs
// with real guests, and networks, through either cell and the balancer, repeating unanswered requests with the same key, while cells,
// vmd, libvirtd, QEMU, Postgres, Temporal, the network server, the programs of OVN that it runs, the controllers and the switches of
// hosts are killed; then Postgres, libvirt, OVN, files and events are compared. If you are here because this failed: the message
// names the violated invariant; `npm run prove:cloud-storm -- --seed N --operations 40 --kills 12 --keep DIRECTORY` runs the same again
// and keeps the logs.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonToSkip, reasonWithoutTemporal } from '@skerry/lab'

import { runCloudStorm, TAKEN_OVER_MS } from './cloud-storm.ts'
import { killable, networkKillable } from './cloud/kills.ts'
import { spread } from './cloud/weather.ts'

const skip =
  reasonToSkip('host', 'small', 'cloud', 'network') ?? (await reasonWithoutTemporal()) ?? false
const seed = Number(process.env['SKERRY_SEED'] ?? 7)

test(
  'forty operations and twelve SIGKILLs over all parts of a cloud: each ends once, and the real state matches the recorded one',
  { skip },
  async (t) => {
    t.diagnostic(`seed ${seed}`)
    const figures = await runCloudStorm({
      seed,
      network: true,
      weather: (draw, sky) => spread({ operations: 40, kills: 12 }, draw, sky),
      say: (line) => t.diagnostic(line),
    })
    t.diagnostic(JSON.stringify(figures))
    assert.ok(figures.operations >= 40, `${figures.operations} operations`)
    assert.deepEqual(Object.keys(figures.kills).sort(), [...killable, ...networkKillable].sort())
    await t.test('a dead cell’s work is taken over within 15 s', () => {
      assert.ok(figures.takenOverMs.length > 0)
      for (const ms of figures.takenOverMs) assert.ok(ms <= TAKEN_OVER_MS, `${ms} ms`)
    })
  },
)
