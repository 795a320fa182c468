// Goal: only a guest that shut itself down counts as such. Method: libvirt's events one by one; then its in-memory driver,
// whose domains stop by themselves, by our order, and by force. Real guests: tests/accept/cloud-core.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonWithoutRoot, until } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'

import { findVm } from '../src/domain/find-domain.ts'
import { stoppedByGuest } from '../src/domain/stopped-by-guest.ts'
import { Endings, type LifeEvent } from '../src/host/endings.ts'
import { createVm } from '../src/vm/create.ts'
import { changePower } from '../src/vm/power.ts'
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

/** Whether the guest initiated the shutdown, after these events. */
function after(
  reported: readonly LifeEvent[],
  { ordered = false, goesDown = stays }: { ordered?: boolean; goesDown?: typeof stays } = {},
): Promise<boolean> {
  const endings = new Endings(goesDown)
  for (const each of reported) endings.hear('cloud-a', each, ordered)
  return endings.isOwn('cloud-a')
}

test('a guest that shuts down by itself is recognised, and one that did so before we listened is assumed to have', async () => {
  assert.equal(await after([started, byGuest, shutDown]), true)
  assert.equal(await after([shutDown]), true)
  assert.equal(await after([]), true)
})

test('a signal, a crash and a forced stop do not count as the guest’s own shutdown', async () => {
  assert.equal(await after([started, bySignal, shutDown]), false)
  assert.equal(await after([started, crashed]), false)
  assert.equal(await after([started, destroyed]), false)
  assert.equal(await after([started, byGuest, destroyed]), false)
})

test('the last of several runs counts', async () => {
  // A guest that is asked to reboot first emits a shutdown event.
  assert.equal(await after([started, byGuest, bySignal, shutDown]), false)
  assert.equal(await after([started, bySignal, shutDown, started, byGuest, shutDown]), true)
  assert.equal(await after([started, byGuest, shutDown, started, crashed]), false)
})

test('an ordered stop, and a stop while the machine shuts down, do not count as the guest’s own shutdown', async () => {
  assert.equal(await after([started, byGuest, shutDown], { ordered: true }), false)
  assert.equal(await after([shutDown], { ordered: true }), false)
  assert.equal(await after([byGuest, shutDown], { goesDown: async () => true }), false)
  const unknown = () => Promise.reject(new Error('systemd does not answer'))
  assert.equal(await after([byGuest, shutDown], { goesDown: unknown }), false)
})

test('an order after the guest’s own shutdown does not change it', async () => {
  const endings = new Endings(stays)
  endings.hear('cloud-a', byGuest, false)
  endings.hear('cloud-a', shutDown, true)
  assert.equal(await endings.isOwn('cloud-a'), true)
})

test('on a host: own shutdown, ordered, forced', { skip }, async () => {
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
  // As by an order; libvirt's in-memory driver has neither an agent nor a power button.
  await host.locks.run('a', async () => {
    await host.link.call(libvirt.domainShutdownFlags, { dom, flags: 0 })
    // Not just any event: the event of its start may arrive this late.
    await until('its stop event arrives', async () => !(await host.endings.isOwn(dom.name)))
  })
  assert.equal(await stoppedByGuest(host, 'a', 'local'), false)
  await on()
  await host.link.call(libvirt.domainDestroy, { dom })
  await off()
  assert.equal(await stoppedByGuest(host, 'a', 'local'), false)
})
