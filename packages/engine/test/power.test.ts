// Goal: every command does in every state what the contract's table says, through a real libvirtd.
// Method: libvirt's in-memory driver, which keeps the states of domains without running guests.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { reasonWithoutRoot, until } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'
import { powerCommands, powerStates, type PowerCommand, type PowerState } from '@skerry/vm'

import { createVm } from '../src/create.ts'
import { deleteVm } from '../src/delete.ts'
import { changePower, discardMemory, reachPower, readPower } from '../src/power.ts'
import { listVms } from '../src/vms.ts'
import { watchVms, type VmChange } from '../src/watch.ts'
import { startEmulatedHost, type EmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false

/** Where a command leads from a state; undefined where it is a conflict. */
type Row = Readonly<Record<PowerCommand, PowerState | undefined>>
const table: Readonly<Record<PowerState, Row>> = {
  off: {
    ...{ on: 'on', off: 'off', shutdown: 'off' },
    ...{ suspend: undefined, pause: undefined, unpause: undefined },
    ...{ reset: undefined, reboot: undefined },
  },
  on: {
    ...{ on: 'on', off: 'off', shutdown: 'off' },
    ...{ suspend: 'suspended', pause: 'paused', unpause: 'on' },
    ...{ reset: 'on', reboot: 'on' },
  },
  paused: {
    ...{ on: undefined, off: 'off', shutdown: undefined },
    ...{ suspend: 'suspended', pause: 'paused', unpause: 'on' },
    ...{ reset: 'on', reboot: undefined },
  },
  suspended: {
    ...{ on: 'on', off: undefined, shutdown: undefined },
    ...{ suspend: 'suspended', pause: undefined, unpause: undefined },
    ...{ reset: undefined, reboot: undefined },
  },
}

/** The in-memory driver has neither agent nor button; tests/guest has guests that have both. */
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
/** Made by us, brought to its state by libvirt alone: the way there is not what is looked at. */
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
        const asked = changePower(host, id, command)
        if (to) {
          assert.equal(await asked, to)
          assert.equal(await readPower(host, id), to)
          return
        }
        await assert.rejects(asked, (fault) => {
          assert(fault instanceof Fault)
          assert.equal(fault.kind, 'conflict')
          assert.match(fault.message, new RegExp(`${id} is ${from}; '${command}' needs`))
          return true
        })
        assert.equal(await readPower(host, id), from)
      },
    )
  }
}

test('what libvirt cannot do is told as its refusal, and the VM stays on', { skip }, async () => {
  const { host } = there()
  const id = 'on-shutdown'
  await vmThatIs('on', id)
  await assert.rejects(changePower(host, id, 'shutdown'), {
    kind: 'unavailable',
    message: /^libvirt: /,
  })
  assert.equal(await readPower(host, id), 'on')
})

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

test(
  'a VM that was suspended while it was paused is on when it is turned on',
  { skip },
  async () => {
    const { host } = there()
    await vmThatIs('paused', 'rested')
    assert.equal(await changePower(host, 'rested', 'suspend'), 'suspended')
    assert.equal(await changePower(host, 'rested', 'on'), 'on')
  },
)

test(
  'what a guest that does not run had in memory is thrown away, of one that runs never',
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

test('a VM that goes off by itself while it is turned off is off', { skip }, async () => {
  const { host } = there()
  const { link } = host
  const id = 'quicker'
  await vmThatIs('off', id)
  const { dom } = await link.call(libvirt.domainLookupByName, { name: `local-${id}` })
  // Calls are answered in turn: with each round the other one comes a call later, before, between and after ours.
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

test('the hint of a refused power-off names the two ways on', { skip }, async () => {
  const { host } = there()
  const id = 'hint'
  await vmThatIs('suspended', id)
  await assert.rejects(changePower(host, id, 'off'), { hint: /turn VM hint on, or delete it/ })
})

test('a list says of every VM what a look at each one says', { skip }, async () => {
  const { host } = there()
  for (const power of powerStates) await vmThatIs(power, `listed-${power}`)
  const listed = (await listVms(host)).filter(({ id }) => id.startsWith('listed-'))
  assert.deepEqual(
    listed.map(({ id, power }) => `${id} is ${power}`),
    powerStates.map((power) => `listed-${power} is ${power}`).sort(),
  )
})

test('changes of one VM happen one at a time, in the order they were asked', { skip }, async () => {
  const { host } = there()
  const id = 'busy'
  await vmThatIs('off', id)
  const commands = ['on', 'pause', 'unpause', 'suspend', 'on', 'off'] as const
  const states = await Promise.all(commands.map((command) => changePower(host, id, command)))
  assert.deepEqual(states, ['on', 'paused', 'on', 'suspended', 'on', 'off'])
})

test('whoever watches is told every state that lasts', { skip }, async () => {
  const { host } = there()
  const id = 'watched'
  await vmThatIs('off', id)
  const ended = new AbortController()
  const seen: (PowerState | undefined)[] = []
  const plan: PowerCommand[] = ['on', 'pause', 'suspend']
  for await (const { vm } of watched(watchVms(host, ended.signal), id)) {
    seen.push(vm?.power)
    const next = plan.shift()
    if (next) await changePower(host, id, next)
    else ended.abort()
  }
  assert.deepEqual(seen, ['off', 'on', 'paused', 'suspended'])
})

async function* watched(changes: AsyncIterable<VmChange>, id: string): AsyncGenerator<VmChange> {
  for await (const change of changes) if (change.id === id) yield change
}

test('a VM of another owner, or none, is not found', { skip }, async () => {
  const { host } = there()
  const id = 'owned'
  await vmThatIs('off', id)
  await assert.rejects(changePower(host, id, 'on', { owner: 'cloud' }), { kind: 'not-found' })
  await assert.rejects(changePower(host, 'nobody', 'on'), { kind: 'not-found' })
})

// The last: the in-memory driver forgets its domains when it dies.
test('after libvirtd died and came back, the host answers again', { skip }, async () => {
  const { host, libvirt, notes } = there()
  const id = 'outlived'
  await vmThatIs('on', id)
  await libvirt.kill()
  await until('we should hear of its end', () => !host.link.isOpen)
  const asked = readPower(host, id)
  await libvirt.restart()
  await assert.rejects(asked, {
    kind: 'unavailable',
    message: /libvirt no longer knows VM outlived/,
    hint: /delete VM outlived/,
  })
  await until('the host should be put in order', () =>
    notes.some((note) => note === 'VM outlived is written down, but libvirt does not know it'),
  )
  await deleteVm(host, id)
  assert.equal(
    (await listVms(host)).some((vm) => vm.id === id),
    false,
  )
})
