// Goal: the host samples all VMs with one call, and forgets those that are gone. Method: libvirt's in-memory driver, which runs VMs
// but has no counters for them.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonWithoutRoot } from '@skerry/lab'

import { readUsage, sampleUsage } from '../src/guest/usage.ts'
import { deleteVm } from '../src/recover/delete.ts'
import { createVm } from '../src/vm/create.ts'
import { changePower } from '../src/vm/power.ts'
import { startEmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false
const window = { step: 15, points: 2 }

test(
  'a running VM has a value for each step, a VM that is off has none, and an unknown VM is not found',
  { skip },
  async () => {
    await using place = await startEmulatedHost()
    const { host } = place
    await createVm(host, { id: 'on' })
    await createVm(host, { id: 'off' })
    await changePower(host, 'on', 'on')
    assert.deepEqual((await readUsage(host, 'on', window)).cpuPercent, [], 'not sampled yet')
    await sampleUsage(host)
    assert.deepEqual((await readUsage(host, 'on', window)).cpuPercent, [null, null])
    assert.deepEqual(await readUsage(host, 'off', window), {
      step: 15,
      until: '1970-01-01T00:00:00.000Z',
      cpuPercent: [],
      memoryMB: [],
      diskRead: [],
      diskWrite: [],
      netIn: [],
      netOut: [],
    })
    await assert.rejects(readUsage(host, 'none', window), { kind: 'not-found' })
    await changePower(host, 'on', 'off')
    await deleteVm(host, 'on')
    await assert.rejects(readUsage(host, 'on', window), { kind: 'not-found' })
  },
)
