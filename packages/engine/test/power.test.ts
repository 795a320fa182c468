// Goal: every command has the effect of the contract's table in every state, on a real libvirtd.
// Method: libvirt's in-memory driver, which keeps the states of domains without running guests.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { reasonWithoutRoot, until } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'
import { powerCommands, powerStates, type PowerCommand, type PowerState } from '@skerry/vm'

import { deleteVm } from '../src/recover/delete.ts'
import { createVm } from '../src/vm/create.ts'
import { changePower, discardMemory, reachPower, readPower } from '../src/vm/power.ts'
import { listVms } from '../src/vm/vms.ts'
import { startEmulatedHost, type EmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false

/** The state after a command; undefined for a conflict. */
type Row = Readonly<Record<PowerCommand, PowerState | undefined>>
const table: Readonly<Record<PowerState, Row>> = {
  off: {
    on: 'on',
    off: 'off',
    shutdown: 'off',
    suspend: undefined,
    pause: undefined,
    unpause: undefined,
    reset: undefined,
    reboot: undefined,
  },
  on: {
    on: 'on',
    off: 'off',
    shutdown: 'off',
    suspend: 'suspended',
    pause: 'paused',
    unpause: 'on',
    reset: 'on',
    reboot: 'on',
  },
  paused: {
    on: undefined,
    off: 'off',
    shutdown: undefined,
    suspend: 'suspended',
    pause: 'paused',
    unpause: 'on',
    reset: 'on',
    reboot: undefined,
  },
  suspended: {
    on: 'on',
    off: undefined,
    shutdown: undefined,
    suspend: 'suspended',
    pause: undefined,
    unpause: undefined,
    reset: undefined,
    reboot: undefined,
  },
}

/** The in-memory driver has neither agent nor button; tests/guest has guests with both. */
const withoutGuest = (from: PowerState, command: PowerCommand) =>
  from === 'on' && command === 'shutdown'

let emulated: EmulatedHost | undefined
before(async () => {
  if (skip === false) emulated = await startEmulatedHost()
})
after(() => emulated?.[Symbol.asyncDispose]())
const there = (): EmulatedHost => {
  assert(emulated, 'the host has started')
  return emulated
}
/** Created by us and brought to its state by libvirt alone: the way there is not under test. */
async function vmThatIs(power: PowerState, id: string): Promise<void> {
  const { host } = there()
  await createVm(host, { id })
  const { link } = host
  const { dom } = await link.call(libvirt.domainLookupByName, { name: `local-${id}` })
  if (power !== 'off') await link.call(libvirt.domainCreate, { dom })
  if (power === 'paused') await link.call(libvirt.domainSuspend, { dom })
  if (power === 'suspended') await link.call(libvirt.domainManagedSave, { dom, flags: 0 })
  assert.equal(await readPower(host, id), power)
}

for (const from of powerStates) {
  for (const command of powerCommands) {
    const to = table[from][command]
    if (withoutGuest(from, command)) continue
    test(
      `'${command}' of a VM that is ${from} ${to ? `leaves it ${to}` : 'is a conflict'}`,
      { skip },
      async () => {
        const { host } = there()
        const id = `${from}-${command}`
        await vmThatIs(from, id)
        const requested = changePower(host, id, command)
        if (to) {
          assert.equal(await requested, to)
          assert.equal(await readPower(host, id), to)
          return
        }
        await assert.rejects(requested, (fault) => {
          assert(fault instanceof Fault)
          assert.equal(fault.kind, 'conflict')
          assert.match(fault.message, new RegExp(`${id} is ${from}; '${command}' requires`))
          return true
        })
        assert.equal(await readPower(host, id), from)
      },
    )
  }
}

test(
  'an operation that libvirt rejects is reported as its error, and the VM stays on',
  { skip },
  async () => {
    const { host } = there()
    const id = 'on-shutdown'
    await vmThatIs('on', id)
    await assert.rejects(changePower(host, id, 'shutdown'), {
      kind: 'unavailable',
      message: /^libvirt: /,
    })
    assert.equal(await readPower(host, id), 'on')
  },
)

test('every goal is reached by one command, or is the wrong state', { skip }, async () => {
  const { host } = there()
  for (const from of powerStates) {
    for (const goal of powerStates) {
      const id = `${from}-to-${goal}`
      await vmThatIs(from, id)
      const leads = from === goal || Object.values(table[from]).includes(goal)
      if (leads) assert.equal(await reachPower(host, id, goal), goal, `${from} to ${goal}`)
      else await assert.rejects(reachPower(host, id, goal), { kind: 'wrong-state' })
    }
  }
})

test('a VM that was suspended while paused is on after it is turned on', { skip }, async () => {
  const { host } = there()
  await vmThatIs('paused', 'rested')
  assert.equal(await changePower(host, 'rested', 'suspend'), 'suspended')
  assert.equal(await changePower(host, 'rested', 'on'), 'on')
})

test(
  'discardMemory: powers off a suspended or paused VM; refused while running',
  { skip },
  async () => {
    const { host } = there()
    for (const from of powerStates) {
      const id = `${from}-discarded`
      await vmThatIs(from, id)
      if (from === 'on') await assert.rejects(discardMemory(host, id), { kind: 'wrong-state' })
      else assert.equal(await discardMemory(host, id), 'off', from)
      assert.equal(await readPower(host, id), from === 'on' ? 'on' : 'off')
    }
  },
)

test('a VM that stops by itself during a power-off is off', { skip }, async () => {
  const { host } = there()
  const { link } = host
  const id = 'quicker'
  await vmThatIs('off', id)
  const { dom } = await link.call(libvirt.domainLookupByName, { name: `local-${id}` })
  // Calls are answered in order: each round shifts the other call by one, before, between and after ours.
  for (let calls = 0; calls < 10; calls++) {
    await link.call(libvirt.domainCreate, { dom })
    const other = async () => {
      for (let n = 0; n < calls; n++) await link.call(libvirt.domainGetState, { dom, flags: 0 })
      await link.call(libvirt.domainDestroy, { dom }).catch(() => undefined)
    }
    const [power] = await Promise.all([changePower(host, id, 'off'), other()])
    assert.equal(power, 'off', `another one after ${calls} calls`)
  }
})

test('the hint of a rejected power-off names the two alternatives', { skip }, async () => {
  const { host } = there()
  const id = 'hint'
  await vmThatIs('suspended', id)
  await assert.rejects(changePower(host, id, 'off'), { hint: /turn VM hint on, or delete it/ })
})

test('the list shows the same states as reading each VM', { skip }, async () => {
  const { host } = there()
  for (const power of powerStates) await vmThatIs(power, `listed-${power}`)
  const listed = (await listVms(host)).filter(({ id }) => id.startsWith('listed-'))
  assert.deepEqual(
    listed.map(({ id, power }) => `${id} is ${power}`),
    powerStates.map((power) => `listed-${power} is ${power}`).sort(),
  )
})

test('changes of one VM run one at a time, in request order', { skip }, async () => {
  const { host } = there()
  const id = 'busy'
  await vmThatIs('off', id)
  const commands = ['on', 'pause', 'unpause', 'suspend', 'on', 'off'] as const
  const states = await Promise.all(commands.map((command) => changePower(host, id, command)))
  assert.deepEqual(states, ['on', 'paused', 'on', 'suspended', 'on', 'off'])
})

test('a VM of another owner, or a missing one, is not found', { skip }, async () => {
  const { host } = there()
  const id = 'owned'
  await vmThatIs('off', id)
  await assert.rejects(changePower(host, id, 'on', { owner: 'cloud' }), { kind: 'not-found' })
  await assert.rejects(changePower(host, 'missing', 'on'), { kind: 'not-found' })
})

// Must be the last: the in-memory driver forgets its domains when it dies.
test('after libvirtd died and came back, the host answers again', { skip }, async () => {
  const { host, libvirt, notes } = there()
  const id = 'outlived'
  await vmThatIs('on', id)
  await libvirt.kill()
  await until('the lost connection should be noticed', () => !host.link.isOpen)
  const requested = readPower(host, id)
  await libvirt.restart()
  await assert.rejects(requested, {
    kind: 'unavailable',
    message: /VM outlived has a disk but no libvirt domain/,
    hint: /delete VM outlived/,
  })
  await until('the host should be repaired', () =>
    notes.some((log) => log === 'VM outlived has a record but no libvirt domain'),
  )
  await deleteVm(host, id)
  assert.equal(
    (await listVms(host)).some((vm) => vm.id === id),
    false,
  )
})
