// Goal: the follower of a host knows the current state, and only one follower is served.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Vm, VmId } from '@skerry/vm'

import { HostSessions, type Hello, type SessionLine } from '../src/index.ts'

const hello: Hello = {
  version: '1',
  boot: 'k',
  highest: '9',
  cpus: 1,
  memoryMiB: 1,
  diskMiB: 1,
  local: { cpus: 0, memoryMiB: 0 },
  overlay: { state: 'none', uplinks: [] },
}
const vmOf = (id: string, power: Vm['power'] = 'off'): Vm => ({
  id: id as VmId,
  name: id,
  tag: '',
  power,
  incarnation: '1',
  boot: null,
  cpus: 1,
  memoryMiB: 64,
  diskMiB: 64,
  nested: false,
  autostart: false,
  sharing: false,
})

function start(times: { pingMs?: number; silenceMs?: number; now?: () => number } = {}) {
  const vms = new Map<VmId, Vm>()
  const byGuest = new Set<VmId>()
  const put = (vm: Vm) => vms.set(vm.id, vm)
  const sessions = new HostSessions(
    {
      hello: async () => hello,
      list: () => [...vms.keys()],
      read: async (id) => vms.get(id),
      stopped: async (id) => (byGuest.has(id) ? 'by guest' : undefined),
    },
    times,
  )
  const ended = new AbortController()
  const follow = (number: string, signal = ended.signal) => reader(sessions.follow(number, signal))
  return { vms, byGuest, put, sessions, follow, end: () => ended.abort() }
}

function reader(lines: AsyncGenerator<SessionLine, void>) {
  const next = async () => (await lines.next()).value ?? 'end'
  return {
    next,
    /** Reads until the list is complete. */
    async listed(): Promise<string[]> {
      const ids: string[] = []
      for (;;) {
        const line = await next()
        assert(line !== 'end', 'the session ended')
        if (line.kind === 'vm') ids.push(line.id)
        if (line.kind === 'listEnd') return ids
      }
    },
    leave: () => lines.return(),
  }
}

test('hello, every VM, listed, then changes', async () => {
  const { put, vms, sessions, follow, end } = start()
  put(vmOf('a'))
  put(vmOf('b', 'on'))
  const one = follow('5')
  assert.deepEqual(await one.next(), { kind: 'hello', hello })
  assert.deepEqual(await one.next(), { kind: 'vm', id: 'a', seq: 1, vm: vmOf('a') })
  assert.deepEqual(await one.next(), { kind: 'vm', id: 'b', seq: 2, vm: vmOf('b', 'on') })
  assert.deepEqual(await one.next(), { kind: 'listEnd', seq: 3 })
  put(vmOf('a', 'on'))
  sessions.changed('a' as VmId)
  assert.deepEqual(await one.next(), { kind: 'vm', id: 'a', seq: 4, vm: vmOf('a', 'on') })
  vms.delete('b' as VmId)
  sessions.changed()
  const line = await one.next()
  assert(line !== 'end' && line.kind === 'vm')
  assert.deepEqual([line.id, line.vm], ['b', undefined])
  end()
  assert.equal(await one.next(), 'end')
})

test('a guest that shut itself down is marked, but only while it is off', async () => {
  const { put, byGuest, sessions, follow, end } = start()
  const id = 'a' as VmId
  byGuest.add(id)
  put(vmOf('a', 'on'))
  const one = follow('5')
  await one.next()
  assert.deepEqual(await one.next(), { kind: 'vm', id, seq: 1, vm: vmOf('a', 'on') })
  await one.next()
  put(vmOf('a'))
  sessions.changed(id)
  const line = await one.next()
  assert.deepEqual(line, { kind: 'vm', id, seq: 3, vm: vmOf('a'), stopped: 'by guest' })
  end()
  assert.equal(await one.next(), 'end')
})

test('changes between two reads are sent as one, and nothing is sent twice', async () => {
  const { put, sessions, follow, end } = start()
  put(vmOf('a'))
  const one = follow('5')
  await one.listed()
  for (const power of ['on', 'paused', 'on', 'suspended'] as const) {
    put(vmOf('a', power))
    sessions.changed('a' as VmId)
  }
  const line = await one.next()
  assert(line !== 'end' && line.kind === 'vm' && line.vm?.power === 'suspended')
  sessions.changed('a' as VmId)
  put(vmOf('b'))
  sessions.changed('b' as VmId)
  const next = await one.next()
  assert(next !== 'end' && next.kind === 'vm' && next.id === 'b')
  end()
})

test('a lower session and a repeated one get hello and are closed', async () => {
  const { follow, end } = start()
  const one = follow('50')
  await one.listed()
  for (const number of ['9', '49', '50']) {
    const late = follow(number)
    assert.deepEqual(await late.next(), { kind: 'hello', hello })
    assert.equal(await late.next(), 'end')
  }
  end()
  assert.equal(await one.next(), 'end')
})

test('a VM that returns to its state before a step is sent again', async () => {
  const { put, sessions, follow, end } = start()
  put(vmOf('a'))
  const one = follow('5')
  await one.listed()
  // A step has started it and reported that; it was killed before it was read again.
  assert.deepEqual(sessions.next('a' as VmId), { session: '5', seq: 3 })
  sessions.changed('a' as VmId)
  assert.deepEqual(await one.next(), { kind: 'vm', id: 'a', seq: 4, vm: vmOf('a') })
  end()
})

test('a higher session takes over at once, with a complete list', async () => {
  const { put, sessions, follow, end } = start()
  put(vmOf('a'))
  const one = follow('5')
  await one.listed()
  const waiting = one.next()
  const two = follow('10')
  assert.deepEqual(await two.listed(), ['a'])
  assert.equal(await waiting, 'end')
  assert.deepEqual(sessions.next('a' as VmId), { session: '10', seq: 3 })
  assert.throws(() => sessions.heard('5'), { kind: 'stale', detail: '10' })
  sessions.heard('10')
  end()
})

test('after an interruption a new session has a complete list', async () => {
  const { put, sessions, follow, end } = start()
  put(vmOf('a'))
  const one = follow('5')
  await one.listed()
  await one.leave()
  put(vmOf('a', 'on'))
  put(vmOf('b'))
  sessions.changed()
  const two = follow('6')
  assert.deepEqual(await two.listed(), ['a', 'b'])
  end()
})

test('a silent follower is disconnected, one that pings is not', async () => {
  let now = 0
  const { sessions, follow, end } = start({ pingMs: 1, silenceMs: 15, now: () => now })
  const one = follow('5')
  await one.listed()
  now = 14
  assert.deepEqual(await one.next(), { kind: 'ping' })
  sessions.heard('5')
  now = 28
  assert.deepEqual(await one.next(), { kind: 'ping' })
  now = 29
  assert.equal(await one.next(), 'end')
  end()
})

test('a VM that cannot be read is not reported as gone', async () => {
  const noted: string[] = []
  let isBroken = true
  const sessions = new HostSessions({
    hello: async () => hello,
    list: () => ['a' as VmId],
    read: async () => (isBroken ? Promise.reject(new Error('away')) : vmOf('a')),
    log: (message) => noted.push(message),
  })
  const ended = new AbortController()
  const one = reader(sessions.follow('5', ended.signal))
  assert.deepEqual(await one.listed(), [])
  assert.equal(noted.length, 1)
  isBroken = false
  sessions.changed()
  const line = await one.next()
  assert(line !== 'end' && line.kind === 'vm' && line.vm?.power === 'off')
  ended.abort()
})
