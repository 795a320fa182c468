// Goal: every power command does to a real guest what the table says, and nothing else does anything.
// Method: a walk over all legal transitions, with the guest itself as the witness; in every state on
// the way the commands that lead nowhere are given too, and must leave the guest as it is.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { reasonToSkip, until } from '@skerry/lab'
import {
  decidePower,
  powerCommands,
  powerRules,
  powerStates,
  type PowerCommand,
  type PowerState,
} from '@skerry/vm'

import {
  BOOT_MS,
  inGuest,
  kernelOf,
  startPlace,
  timesUp,
  tryInGuest,
  untilUp,
  uptime,
  type Place,
} from './guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const GUEST = { memoryMiB: 128 } as const

const edge = (from: PowerState, command: PowerCommand) => `${command} while ${from}`
const edges = powerStates.flatMap((from) =>
  powerCommands
    .filter((command) => powerRules[command].from.includes(from))
    .map((command) => edge(from, command)),
)
const walked = new Set<string>()

let place: Place | undefined
before(async () => {
  if (skip === false) place = await startPlace()
})
after(() => place?.[Symbol.asyncDispose]())
const there = (): Place => {
  assert(place, 'the host has started')
  return place
}

/** Gives a command that must work, and remembers that it was seen to. */
async function go(id: string, command: PowerCommand): Promise<void> {
  const { engine } = there()
  const from = await engine.readPower(id)
  const { to } = powerRules[command]
  assert.equal(await engine.changePower(id, command), to, edge(from, command))
  assert.equal(await engine.readPower(id), to)
  walked.add(edge(from, command))
}

/** Gives every command that leads nowhere from here; the VM must not notice. */
async function goNowhere(id: string): Promise<void> {
  const { engine } = there()
  const vm = await engine.readVm(id)
  for (const command of powerCommands) {
    const decision = decidePower(vm.power, command)
    if (decision === 'go') continue
    const asked = engine.changePower(id, command)
    if (decision === 'nothing') assert.equal(await asked, vm.power)
    else await assert.rejects(asked, { kind: 'conflict' }, edge(vm.power, command))
  }
  assert.deepEqual(await engine.readVm(id), vm)
}

/** Does something, after which the guest must have gone on where it was. */
async function goesOn(id: string, work: () => Promise<void>): Promise<void> {
  const { engine } = there()
  const before = {
    kernel: await kernelOf(engine, id),
    up: await uptime(engine, id),
    times: await timesUp(engine, id),
  }
  await inGuest(engine, id, 'echo kept >/tmp/witness')
  await work()
  await untilUp(engine, id)
  assert.equal(await inGuest(engine, id, 'cat /tmp/witness'), 'kept')
  assert.equal(await kernelOf(engine, id), before.kernel)
  assert((await uptime(engine, id)) >= before.up)
  assert.equal(await timesUp(engine, id), before.times)
}

/** Does something, after which the guest must have started anew. */
async function startsAnew(id: string, work: () => Promise<void>): Promise<void> {
  const { engine } = there()
  await inGuest(engine, id, 'echo lost >/tmp/witness')
  const [times, kernel] = [await timesUp(engine, id), await kernelOf(engine, id)]
  await work()
  await untilUp(engine, id, times + 1)
  assert.equal((await tryInGuest(engine, id, 'cat /tmp/witness')).exitCode, 1)
  // Not by its clock: an emulated guest that starts on a busy machine may take its seconds for shorter than they are.
  assert.notEqual(await kernelOf(engine, id), kernel)
}

describe('a real guest', { skip, concurrency: 2 }, () => {
  test('sleeps, rests, and stops by its agent and by its power button', async () => {
    const { engine, host } = there()
    const id = 'sleeper'
    const first = await engine.createVm({ id, ...GUEST })
    assert.deepEqual([first.power, first.boot], ['off', null])
    await goNowhere(id)
    await go(id, 'on')
    await untilUp(engine, id)
    const { boot } = await engine.readVm(id)
    assert.match(boot ?? '', /^[0-9a-f]{32}$/)
    await goesOn(id, () => goNowhere(id))

    await goesOn(id, async () => {
      await go(id, 'pause')
      await goNowhere(id)
      assert.equal(await engine.pingGuest(id), false, 'a paused guest answers nobody')
      await go(id, 'unpause')
    })
    assert.equal((await engine.readVm(id)).boot, boot)
    await goesOn(id, async () => {
      await go(id, 'suspend')
      await goNowhere(id)
      assert.equal((await engine.readVm(id)).boot, null)
      assert.equal((await host.run(['pgrep', '-f', `guest=local-${id}`])).stdout, '')
      await go(id, 'on')
    })
    assert.notEqual((await engine.readVm(id)).boot, boot, 'it is another QEMU now')
    await goesOn(id, async () => {
      await go(id, 'pause')
      await go(id, 'suspend')
      await go(id, 'on')
    })

    await startsAnew(id, async () => {
      await go(id, 'shutdown')
      assert.match(await engine.readSerialLog(id), /Power down\s*$/i)
      await go(id, 'on')
    })
    // Without its agent there is still the power button.
    await inGuest(engine, id, '(sleep 0.3; killall qemu-ga) >/dev/null 2>&1 &')
    await until('the agent is gone', async () => !(await engine.pingGuest(id)), BOOT_MS)
    await go(id, 'shutdown')
    assert.match(await engine.readSerialLog(id), /Power down\s*$/i)
    // Whoever is only being started can be stopped, too.
    await go(id, 'on')
    await go(id, 'off')
    await go(id, 'on')
    await go(id, 'pause')
    await go(id, 'off')
    assert.equal((await host.run(['pgrep', '-f', `guest=local-${id}`])).stdout, '')
  })

  test('starts anew when it is reset or rebooted, in the same QEMU', async () => {
    const { engine } = there()
    const id = 'starter'
    await engine.createVm({ id, ...GUEST })
    await go(id, 'on')
    await untilUp(engine, id)
    const { boot } = await engine.readVm(id)
    await startsAnew(id, () => go(id, 'reset'))
    assert.equal((await engine.readVm(id)).boot, boot)
    await startsAnew(id, () => go(id, 'reboot'))
    assert.equal((await engine.readVm(id)).boot, boot)

    await go(id, 'pause')
    await go(id, 'reset')
    assert.equal((await engine.readVm(id)).boot, boot)
    assert.equal(await engine.pingGuest(id), false, 'one that merely went on would answer')
    await go(id, 'off')
  })
})

test('no legal transition was left out', { skip }, () => {
  assert.deepEqual([...walked].sort(), edges.sort())
})
