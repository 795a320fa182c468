// Goal: a power state answered from the cache is never one that an answered command has changed.
// Method: the rules one by one; then libvirt's in-memory driver, changed by us, by others, and with many readers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { reasonWithoutRoot, until } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { KnownPowers } from '../src/host/known-powers.ts'
import { deleteVm } from '../src/recover/delete.ts'
import { createVm } from '../src/vm/create.ts'
import { changePower, readPower } from '../src/vm/power.ts'
import { startEmulatedHost, type EmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false
const ROUNDS = 20
const READERS = 16

/** Queries that return these power states in order, and count. */
function asking(...powers: readonly PowerState[]) {
  const ask = async () => powers[Math.min(ask.times++, powers.length - 1)] ?? 'off'
  ask.times = 0
  return ask
}

const trusted = (link = { isOpen: true }): KnownPowers => {
  const powers = new KnownPowers()
  powers.trust(link)
  return powers
}

test('a cached state is not queried again', async () => {
  const powers = trusted()
  const ask = asking('on', 'off')
  assert.deepEqual(
    [await powers.read('local-a', ask), await powers.read('local-a', ask)],
    ['on', 'on'],
  )
  assert.equal(ask.times, 1)
})

test('it is queried again after a change of that VM, and not of another', async () => {
  const powers = trusted()
  const ask = asking('on', 'off', 'paused', 'on')
  await powers.read('local-a', ask)
  powers.forgetDomain('local-b')
  assert.equal(await powers.read('local-a', ask), 'on')
  powers.forgetDomain('local-a')
  assert.equal(await powers.read('local-a', ask), 'off')
  powers.forget('a')
  assert.equal(await powers.read('local-a', ask), 'paused')
  powers.forgetDomain(undefined)
  assert.equal(await powers.read('local-a', ask), 'on')
})

test('an answer overtaken by a change is not cached', async () => {
  const powers = trusted()
  const { promise, resolve } = Promise.withResolvers<PowerState>()
  const early = powers.read('local-a', () => promise)
  powers.forget('a')
  resolve('on')
  assert.equal(await early, 'on')
  assert.equal(await powers.read('local-a', asking('off')), 'off')
})

test('nothing is cached before libvirt delivers events, nor after it stops', async () => {
  const powers = new KnownPowers()
  const ask = asking('on', 'off', 'on', 'off', 'on')
  assert.deepEqual(
    [await powers.read('local-a', ask), await powers.read('local-a', ask)],
    ['on', 'off'],
  )
  const link = { isOpen: true }
  powers.trust(link)
  assert.equal(await powers.read('local-a', ask), 'on')
  link.isOpen = false
  assert.equal(await powers.read('local-a', ask), 'off')
  powers.trust({ isOpen: true })
  assert.equal(await powers.read('local-a', ask), 'on', 'states of the old link are dropped')
})

test('lost events invalidate the cache of their own link only', async () => {
  const [old, link] = [{ isOpen: true }, { isOpen: true }]
  const powers = trusted(link)
  const ask = asking('on', 'off')
  await powers.read('local-a', ask)
  powers.distrust(old)
  assert.equal(await powers.read('local-a', ask), 'on')
  powers.distrust(link)
  assert.equal(await powers.read('local-a', ask), 'off')
})

test('a failure is not cached, nor a state without events', async () => {
  const powers = trusted()
  await assert.rejects(
    powers.read('local-a', () => Promise.reject(new Error('no'))),
    /no/,
  )
  const ask = asking('suspended', 'off')
  assert.equal(await powers.read('local-a', ask), 'suspended')
  assert.equal(
    await powers.read('local-a', ask),
    'off',
    'a saved image may be deleted without an event',
  )
})

let emulated: EmulatedHost | undefined
before(async () => {
  if (skip === false) emulated = await startEmulatedHost()
})
after(() => emulated?.[Symbol.asyncDispose]())
const there = (): EmulatedHost => {
  assert(emulated, 'the host has started')
  return emulated
}

test('holding a VM’s lock clears its cached state', { skip }, async () => {
  const { host } = there()
  await createVm(host, { id: 'turn' })
  // Simulates a stale 'paused' state whose event is still in transit.
  const lie = () => host.powers.read('local-turn', async () => 'paused')
  await lie()
  assert.equal(await readPower(host, 'turn'), 'paused', 'the cached state is returned')
  await host.locks.run('turn', async () => {
    assert.equal(await readPower(host, 'turn'), 'off', 'meanwhile libvirt is queried')
  })
  assert.equal(await readPower(host, 'turn'), 'off')
})

test('a read after an answered command sees it, with any number of readers', { skip }, async () => {
  const { host } = there()
  await createVm(host, { id: 'busy' })
  let reads = 0
  const ended = new AbortController()
  const readers = Array.from({ length: READERS }, async () => {
    while (!ended.signal.aborted) {
      await readPower(host, 'busy')
      reads++
      // Lets pending events of libvirt arrive.
      await new Promise(setImmediate)
    }
  })
  for (let round = 0; round < ROUNDS; round++) {
    for (const command of ['on', 'pause', 'unpause', 'suspend', 'on', 'off'] as const) {
      const answered = await changePower(host, 'busy', command)
      assert.equal(await readPower(host, 'busy'), answered, `after ${command} in round ${round}`)
    }
  }
  ended.abort()
  await Promise.all(readers)
  assert(reads > ROUNDS, `only ${reads} reads`)
})

test('changes made by others to a domain are seen', { skip }, async () => {
  const { host, libvirt: daemon } = there()
  await createVm(host, { id: 'other' })
  await using stranger = await libvirt.Connection.open({
    socket: daemon.socket,
    uri: 'test:///default',
  })
  const { dom } = await stranger.call(libvirt.domainLookupByName, { name: 'local-other' })
  const seen = (power: PowerState) =>
    until(`it should be ${power}`, async () => (await readPower(host, 'other')) === power)
  await seen('off')
  await stranger.call(libvirt.domainCreate, { dom })
  await seen('on')
  await stranger.call(libvirt.domainSuspend, { dom })
  await seen('paused')
  await stranger.call(libvirt.domainDestroy, { dom })
  await seen('off')
  await stranger.call(libvirt.domainUndefineFlags, { dom, flags: 0 })
  await until('its absence should be noticed', () =>
    readPower(host, 'other').then(
      () => false,
      (error: unknown) => /VM other has a disk but no libvirt domain/.test(String(error)),
    ),
  )
  await deleteVm(host, 'other')
  await assert.rejects(readPower(host, 'other'), { kind: 'not-found' })
})
