// Goal: only a guest that shut itself down is said to have done so. Method: libvirt's words one by one; then its in-memory
// driver, whose domains leave by themselves, by our order, and by force. Real guests: tests/accept/cloud-core.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonWithoutRoot, until } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'

import { createVm } from '../src/create.ts'
import { Endings, type LifeEvent } from '../src/endings.ts'
import { findVm } from '../src/find-domain.ts'
import { changePower } from '../src/power.ts'
import { stoppedByGuest } from '../src/stopped-by-guest.ts'
import { startEmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false
const { DomainEventType: is, DomainEventStoppedDetailType, DomainEventShutdownDetailType } = libvirt

const started = { event: is.started, detail: 0 }
const byGuest = { event: is.shutdown, detail: DomainEventShutdownDetailType.guest }
const bySignal = { event: is.shutdown, detail: DomainEventShutdownDetailType.host }
const shutDown = { event: is.stopped, detail: DomainEventStoppedDetailType.shutdown }
const destroyed = { event: is.stopped, detail: DomainEventStoppedDetailType.destroyed }
const crashed = { event: is.stopped, detail: DomainEventStoppedDetailType.crashed }

const stays = async () => false

/** Whether it was the guest's wish, after libvirt has told all of this. */
function after(
  told: readonly LifeEvent[],
  { ordered = false, goesDown = stays }: { ordered?: boolean; goesDown?: typeof stays } = {},
): Promise<boolean> {
  const endings = new Endings(goesDown)
  for (const each of told) endings.hear('cloud-a', each, ordered)
  return endings.isOwn('cloud-a')
}

test('a guest that leaves by itself is heard, and one that was gone before we listened is believed', async () => {
  assert.equal(await after([started, byGuest, shutDown]), true)
  assert.equal(await after([shutDown]), true)
  assert.equal(await after([]), true)
})

test('a signal, a crash and force are not the guest’s wish', async () => {
  assert.equal(await after([started, bySignal, shutDown]), false)
  assert.equal(await after([started, crashed]), false)
  assert.equal(await after([started, destroyed]), false)
  assert.equal(await after([started, byGuest, destroyed]), false)
})

test('the last of several lives counts', async () => {
  // A guest that is asked to start again tells first that it shuts down.
  assert.equal(await after([started, byGuest, bySignal, shutDown]), false)
  assert.equal(await after([started, bySignal, shutDown, started, byGuest, shutDown]), true)
  assert.equal(await after([started, byGuest, shutDown, started, crashed]), false)
})

test('what was ordered is not the guest’s wish, nor what it does while the machine goes down', async () => {
  assert.equal(await after([started, byGuest, shutDown], { ordered: true }), false)
  assert.equal(await after([shutDown], { ordered: true }), false)
  assert.equal(await after([byGuest, shutDown], { goesDown: async () => true }), false)
  const unknown = () => Promise.reject(new Error('systemd does not answer'))
  assert.equal(await after([byGuest, shutDown], { goesDown: unknown }), false)
})

test('an order that comes after the guest’s wish does not undo it', async () => {
  const endings = new Endings(stays)
  endings.hear('cloud-a', byGuest, false)
  endings.hear('cloud-a', shutDown, true)
  assert.equal(await endings.isOwn('cloud-a'), true)
})

test('on a host: by itself, by order, by force', { skip }, async () => {
  await using emulated = await startEmulatedHost()
  const { host } = emulated
  await createVm(host, { id: 'a' })
  const on = () => changePower(host, 'a', 'on')
  const off = () =>
    until('it is off', async () => {
      const { dom } = await findVm(host, 'a')
      const { state } = await host.link.call(libvirt.domainGetState, { dom, flags: 0 })
      return state === libvirt.DomainState.shutoff
    })
  const { dom } = await findVm(host, 'a')
  assert.equal(await stoppedByGuest(host, 'a', 'local'), false, 'it was never on')
  await on()
  assert.equal(await stoppedByGuest(host, 'a', 'local'), false, 'it is on')
  await host.link.call(libvirt.domainShutdownFlags, { dom, flags: 0 })
  await off()
  assert.equal(await stoppedByGuest(host, 'a', 'local'), true)
  await on()
  // As an order does it; libvirt's in-memory driver knows neither an agent nor a power button.
  await host.turns.take('a', async () => {
    await host.link.call(libvirt.domainShutdownFlags, { dom, flags: 0 })
    // Not any change: that it was started may be told as late as this.
    await until('its end is heard', async () => !(await host.endings.isOwn(dom.name)))
  })
  assert.equal(await stoppedByGuest(host, 'a', 'local'), false)
  await on()
  await host.link.call(libvirt.domainDestroy, { dom })
  await off()
  assert.equal(await stoppedByGuest(host, 'a', 'local'), false)
})
