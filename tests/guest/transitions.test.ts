// Goal: every power command has the effect of the table on a real guest, and no other command has any. Method: a walk over all
// legal transitions, checked by the guest itself; in every state on the way the illegal commands are given too, and must leave
// the guest unchanged.
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

/** Gives a legal command, and records the transition. */
async function go(id: string, command: PowerCommand): Promise<void> {
  const { engine } = there()
  const from = await engine.readPower(id)
  const { to } = powerRules[command]
  assert.equal(await engine.changePower(id, command), to, edge(from, command))
  assert.equal(await engine.readPower(id), to)
  walked.add(edge(from, command))
}

/** Gives every illegal command of this state; the VM must not change. */
async function goNowhere(id: string): Promise<void> {
  const { engine } = there()
  const vm = await engine.readVm(id)
  for (const command of powerCommands) {
    const decision = decidePower(vm.power, command)
    if (decision === 'go') continue
    const requested = engine.changePower(id, command)
    if (decision === 'nothing') assert.equal(await requested, vm.power)
    else await assert.rejects(requested, { kind: 'conflict' }, edge(vm.power, command))
  }
  assert.deepEqual(await engine.readVm(id), vm)
}

/** Does something, after which the guest must have continued where it was. */
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

/** Does something, after which the guest must have booted again. */
async function startsAnew(id: string, work: () => Promise<void>): Promise<void> {
  const { engine } = there()
  await inGuest(engine, id, 'echo lost >/tmp/witness')
  const [times, kernel] = [await timesUp(engine, id), await kernelOf(engine, id)]
  await work()
  await untilUp(engine, id, times + 1)
  assert.equal((await tryInGuest(engine, id, 'cat /tmp/witness')).exitCode, 1)
  // Not by its clock: the clock of an emulated guest that boots on a busy machine may run slow.
  assert.notEqual(await kernelOf(engine, id), kernel)
}

/** virtlogd writes the serial output, and may be behind the end of QEMU. */
async function printed(id: string, words: RegExp): Promise<void> {
  const isPrinted = async () => words.test(await there().engine.readSerialLog(id))
  await until(`the guest has printed ${words}`, isPrinted)
}

describe('a real guest', { skip, concurrency: 2 }, () => {
  test('suspends, pauses, and stops by its agent and by its power button', async () => {
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
      assert.equal(await engine.pingGuest(id), false, 'a paused guest does not answer')
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
      await printed(id, /Power down\s*$/i)
      await go(id, 'on')
    })
    // Without its agent there is still the power button.
    await inGuest(engine, id, '(sleep 0.3; killall qemu-ga) >/dev/null 2>&1 &')
    await until('the agent has stopped', async () => !(await engine.pingGuest(id)), BOOT_MS)
    await go(id, 'shutdown')
    await printed(id, /Power down\s*$/i)
    // A booting guest can be stopped, too.
    await go(id, 'on')
    await go(id, 'off')
    await go(id, 'on')
    await go(id, 'pause')
    await go(id, 'off')
    assert.equal((await host.run(['pgrep', '-f', `guest=local-${id}`])).stdout, '')
  })

  test('boots again when it is reset or rebooted, in the same QEMU', async () => {
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
    assert.equal(await engine.pingGuest(id), false, 'a guest that merely continued would answer')
    await go(id, 'off')
  })
})

test('no legal transition was left out', { skip }, () => {
  assert.deepEqual([...walked].sort(), edges.sort())
})
