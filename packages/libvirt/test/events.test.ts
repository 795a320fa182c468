import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  connectDomainEventCallbackDeregisterAny as deregister,
  connectDomainEventCallbackRegisterAny as register,
  DomainEventID,
  domainEventLifecycle as lifecycle,
  domainEventReboot as reboot,
  EventsLost,
  LinkLost,
  ProtocolError,
  qemuConnectDomainMonitorEventDeregister,
  qemuConnectDomainMonitorEventRegister,
  qemuDomainMonitorEvent,
  type Domain,
  type DomainEventSubscription,
  type SubscribeOptions,
  type Value,
} from '../src/index.ts'
import { connectPair, readArgs, type Pair } from './scripted-server.ts'

type Lifecycle = Value<typeof lifecycle.body>

const dom: Domain = { name: 'vm', uuid: new Uint8Array(16), id: 1 }
const event = (number: number): Lifecycle => ({ dom, event: number, detail: 0 })
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

async function subscribe(
  { connection, server }: Pair,
  callbackID: number,
  options: SubscribeOptions = {},
): Promise<DomainEventSubscription<Lifecycle>> {
  const subscribing = connection.domainEvents(lifecycle, options)
  server.reply(await server.next(), register.ret, { callbackID })
  return subscribing
}

test('a registration names the event and the domain, and events arrive in order', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const subscribing = connection.domainEvents(lifecycle, { dom })
  const requested = await server.next()
  assert.deepEqual(readArgs(requested, register.args), { eventID: DomainEventID.lifecycle, dom })
  server.reply(requested, register.ret, { callbackID: 7 })
  const events = await subscribing
  for (const number of [1, 2, 3]) server.tell(lifecycle, 7, event(number))
  const seen: number[] = []
  for await (const one of events) {
    seen.push(one.event)
    if (seen.length === 3) {
      void server.next().then((left) => {
        assert.deepEqual(readArgs(left, deregister.args), { callbackID: 7 })
        server.reply(left, deregister.ret, undefined)
      })
      break
    }
  }
  assert.deepEqual(seen, [1, 2, 3])
  server.tell(lifecycle, 7, event(4))
  await settle()
  assert.ok(connection.isOpen)
})

test('events of another callback, another kind or without a subscription are ignored', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const events = await subscribe(pair, 7)
  server.tell(lifecycle, 8, event(1))
  server.tell(reboot, 7, { dom })
  server.tell(lifecycle, 7, event(2))
  assert.deepEqual(await events.next(), { done: false, value: event(2) })
  assert.ok(connection.isOpen)
})

test('an event that overtakes the answer to its registration is not lost', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const subscribing = connection.domainEvents(lifecycle)
  const requested = await server.next()
  server.tell(lifecycle, 3, event(1))
  server.tell(lifecycle, 4, event(99))
  await settle()
  server.reply(requested, register.ret, { callbackID: 3 })
  server.tell(lifecycle, 3, event(2))
  const events = await subscribing
  assert.deepEqual((await events.next()).value, event(1))
  assert.deepEqual((await events.next()).value, event(2))
})

test('waiting readers are served in order', async () => {
  await using pair = await connectPair()
  const events = await subscribe(pair, 1)
  const waiting = [events.next(), events.next()]
  pair.server.tell(lifecycle, 1, event(1))
  pair.server.tell(lifecycle, 1, event(2))
  assert.deepEqual(await Promise.all(waiting), [
    { done: false, value: event(1) },
    { done: false, value: event(2) },
  ])
})

test('a slow reader gets the buffered events and then the loss as an error', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const events = await subscribe(pair, 1, { bufferSize: 3 })
  for (let number = 0; number < 5; number += 1) server.tell(lifecycle, 1, event(number))
  const left = await server.next()
  assert.deepEqual(readArgs(left, deregister.args), { callbackID: 1 })
  server.reply(left, deregister.ret, undefined)
  const seen: number[] = []
  const reading = async (): Promise<void> => {
    for await (const one of events) seen.push(one.event)
  }
  await assert.rejects(reading(), EventsLost)
  assert.deepEqual(seen, [0, 1, 2])
  assert.deepEqual(await events.next(), { done: true, value: undefined })
  assert.ok(connection.isOpen)
})

test('a lost link ends every subscription with the reason', async () => {
  await using pair = await connectPair()
  const first = await subscribe(pair, 1)
  const second = await subscribe(pair, 2)
  pair.server.tell(lifecycle, 2, event(1))
  await settle()
  const waiting = first.next()
  pair.server.transport.destroy()
  await assert.rejects(waiting, LinkLost)
  assert.deepEqual((await second.next()).value, event(1))
  await assert.rejects(second.next(), LinkLost)
  await first[Symbol.asyncDispose]()
  await assert.rejects(pair.connection.domainEvents(lifecycle), LinkLost)
})

test('an invalid event ends its subscription only', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const events = await subscribe(pair, 1)
  const header = { program: lifecycle.program, procedure: lifecycle.number, type: 2 }
  server.send(server.frame({ ...header, serial: 0, status: 0 }, deregister.args, { callbackID: 1 }))
  await assert.rejects(events.next(), ProtocolError)
  assert.ok(connection.isOpen)
})

test('a signal ends the loop without an error and cancels the registration', async () => {
  await using pair = await connectPair()
  const { server } = pair
  const controller = new AbortController()
  const events = await subscribe(pair, 1, { signal: controller.signal })
  const waiting = events.next()
  controller.abort()
  assert.deepEqual(await waiting, { done: true, value: undefined })
  assert.equal((await server.next()).procedure, deregister.number)
})

test('a registration that is answered after it was aborted is canceled', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const controller = new AbortController()
  const subscribing = connection.domainEvents(lifecycle, { signal: controller.signal })
  const requested = await server.next()
  controller.abort()
  await assert.rejects(subscribing, { name: 'CallAborted' })
  server.reply(requested, register.ret, { callbackID: 9 })
  const left = await server.next()
  assert.deepEqual(readArgs(left, deregister.args), { callbackID: 9 })
})

test('leaving twice sends one request to the server', async () => {
  await using pair = await connectPair()
  const { server } = pair
  const events = await subscribe(pair, 1)
  const leaving = [events.return(), events[Symbol.asyncDispose]()]
  server.reply(await server.next(), deregister.ret, undefined)
  await Promise.all(leaving)
  await settle()
  assert.equal(server.unread, 0)
})

test("events of QEMU's monitor use the QEMU program", async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const subscribing = connection.monitorEvents({ event: 'SHUTDOWN' })
  const requested = await server.next()
  assert.equal(requested.program, qemuConnectDomainMonitorEventRegister.program)
  const args = readArgs(requested, qemuConnectDomainMonitorEventRegister.args)
  assert.deepEqual(args, { dom: null, event: 'SHUTDOWN', flags: 0 })
  server.reply(requested, qemuConnectDomainMonitorEventRegister.ret, { callbackID: 5 })
  const events = await subscribing
  const body = { dom, event: 'SHUTDOWN', seconds: 1n, micros: 2, details: '{}' }
  server.tell(qemuDomainMonitorEvent, 5, body)
  assert.deepEqual((await events.next()).value, body)
  const leaving = events.return()
  const left = await server.next()
  assert.equal(left.procedure, qemuConnectDomainMonitorEventDeregister.number)
  server.reply(left, qemuConnectDomainMonitorEventDeregister.ret, undefined)
  await leaving
})
