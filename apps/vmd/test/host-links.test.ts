// Goal: unauthorised orders change nothing, and a follower knows the actual state.
// Method: a real libvirtd with its in-memory driver, real TLS with certificates by openssl.
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { changePower, listVms } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import type { Goal, HostApi, SessionLine } from '@skerry/host-api'
import { reasonWithoutRoot } from '@skerry/lab'
import type { Order, TaskId, VmId } from '@skerry/vm'

import { startCloudHost, type CloudHost } from './cloud-host.ts'
import { gone, idOf, orderOf, ordersTo, to } from './cloud-orders.ts'

const skip = reasonWithoutRoot('host') ?? false
let started: CloudHost | undefined
before(async () => {
  if (skip === false) started = await startCloudHost()
})
after(() => started?.[Symbol.asyncDispose]())
const cloud = (): CloudHost => {
  assert(started, 'the host has started')
  return started
}
const { defined, made } = ordersTo(cloud)

test('late and forged orders are rejected, and nothing changes', { skip }, async () => {
  const { connect, control, hosts, emulated, onDisk, restart } = cloud()
  const { host } = emulated
  const [vm, deleted] = [idOf(4), idOf(5)]
  const link = await made(vm, 100)
  await link.step(orderOf(vm, 'on', 110, { task: 'on' as TaskId }), to('on'))
  await made(deleted, 100)
  await link.step(orderOf(deleted, 'gone', 110, { task: 'del' as TaskId }), gone)
  const name = 'URI:skerry://lab/cell/c1'
  const young = connect(await control.issue(name, 'URI:skerry://lab/epoch/5'))
  await young.stop(vm as VmId, 'none')

  const as = async (issuer: typeof control, ...names: string[]) =>
    connect(await issuer.issue(...names, 'URI:skerry://lab/epoch/5'))
  const good = await as(control, name)
  const off = (number: number, more: Partial<Order> = {}) => orderOf(vm, 'off', number, more)
  const other = { task: 'other' as TaskId }
  const attempts: Readonly<Record<string, [HostApi, Order, Goal, string | RegExp]>> = {
    'an older fencing token': [good, off(109, other), to('off'), 'stale'],
    'an older fencing token, to delete': [good, off(109, other), gone, 'stale'],
    'the fencing token of another task': [good, off(110, other), to('off'), 'stale'],
    'a lower incarnation': [good, off(200, { incarnation: '0' }), to('off'), 'other-incarnation'],
    'a higher incarnation': [good, off(200, { incarnation: '2' }), to('off'), 'other-incarnation'],
    'to delete a higher incarnation': [
      good,
      off(200, { incarnation: '2' }),
      gone,
      'other-incarnation',
    ],
    'a step of a deleted VM': [good, orderOf(deleted, 'on', 200), to('on'), 'gone'],
    'to create a deleted VM again': [good, orderOf(deleted, 'make', 200), defined(), 'gone'],
    'a late step of a deleted VM': [good, orderOf(deleted, 'define', 100), defined(), 'stale'],
    'a VM that was never created': [good, orderOf(idOf(99), 'on', 200), to('on'), 'gone'],
    'an unknown goal': [good, off(200), { goal: 'exec' } as unknown as Goal, 'invalid'],
    'another host’s certificate': [
      ...([await as(hosts, 'URI:skerry://lab/host/h2'), off(200), to('off')] as const),
      'unavailable',
    ],
    'this host’s own certificate': [
      ...([await as(hosts, 'URI:skerry://lab/host/h1'), off(200), to('off')] as const),
      'unavailable',
    ],
    'a cell’s name from the hosts’ issuer': [
      ...([await as(hosts, name), off(200), to('off')] as const),
      'unavailable',
    ],
    'a host’s name from the control issuer': [
      ...([await as(control, 'URI:skerry://lab/host/h2'), off(200), to('off')] as const),
      'unavailable',
    ],
    'a console': [
      await as(control, 'URI:skerry://lab/console/k'),
      off(200),
      to('off'),
      'unavailable',
    ],
    'a workflow server': [
      ...([await as(control, 'URI:skerry://lab/workflow/w'), off(200), to('off')] as const),
      'unavailable',
    ],
    'a cell that was revoked': [link, off(200), to('off'), 'unavailable'],
    'an order for another host': [connect(cloud().cell, 'h2'), off(200), to('off'), 'unavailable'],
  }
  const before = await onDisk()
  const powers = () => listVms(host, 'cloud')
  const powersBefore = await powers()
  for (const [what, [by, order, goal, kind]] of Object.entries(attempts)) {
    await assert.rejects(
      by.step(order, goal),
      (fault) => {
        assert(fault instanceof Fault, String(fault))
        assert.match(fault.kind, kind instanceof RegExp ? kind : new RegExp(`^${kind}$`), what)
        return true
      },
      what,
    )
    assert.deepEqual(await powers(), powersBefore, what)
  }
  assert.deepEqual(await onDisk(), before)
  // A rejection persists after vmd has lost its memory.
  await restart()
  const again = await as(control, name)
  await assert.rejects(again.step(off(109, other), to('off')), { kind: 'stale', detail: '110' })
  await assert.rejects(connect().step(off(200), to('off')), {
    kind: 'unavailable',
    detail: 'distrust',
  })
  assert.deepEqual(await onDisk(), before)
  await rm(join(host.paths.data, 'cloud/epoch.json'))
  await restart()
})

test(
  'a follower is informed of what guests do by themselves; a higher session takes over',
  { skip },
  async () => {
    const { emulated, connect } = cloud()
    const vm = idOf(14)
    const link = await made(vm)
    const follow = (session: string) => connect().follow(session, AbortSignal.timeout(60_000))
    const first = follow('1000')[Symbol.asyncIterator]()
    const readUntil = async (
      lines: AsyncIterator<SessionLine>,
      wanted: (line: SessionLine) => boolean,
    ) => {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) return undefined
        if (wanted(value)) return value
      }
    }
    const isOn = (line: SessionLine) =>
      line.kind === 'vm' && line.id === vm && line.vm?.power === 'on'
    assert(await readUntil(first, ({ kind }) => kind === 'listEnd'))
    assert.deepEqual(await link.ping('1000', '100'), { highest: '110' })
    await changePower(emulated.host, vm, 'on', { owner: 'cloud' })
    const seen = await readUntil(first, isOn)
    assert(seen?.kind === 'vm')
    const report = await link.step(orderOf(vm, 'off', 60, { task: 'off' as TaskId }), to('off'))
    assert.equal(report.session, '1000')
    assert(report.seq > seen.seq, 'a later report has a higher position')

    const lower = await Array.fromAsync(follow('999'))
    assert.deepEqual(
      lower.map(({ kind }) => kind),
      ['hello'],
    )
    // The old follower is disconnected; changes meanwhile are in the next one's list.
    await changePower(emulated.host, vm, 'on', { owner: 'cloud' })
    const second = follow('1001')[Symbol.asyncIterator]()
    assert(await readUntil(second, isOn))
    assert(await readUntil(second, ({ kind }) => kind === 'listEnd'))
    assert.equal(await readUntil(first, () => false), undefined, 'the lower session has ended')
    await assert.rejects(link.ping('1000', '101'), { kind: 'stale', detail: '1001' })
    await second.return?.()
  },
)

test(
  'a renewed certificate is used at once, and one of another host is rejected',
  { skip },
  async () => {
    const { connect, hosts, renewWith } = cloud()
    const held = connect()
    await held.stop(idOf(1) as VmId, 'none')
    await renewWith(await hosts.issue('URI:skerry://lab/host/h1'))
    await held.stop(idOf(1) as VmId, 'none')
    await connect().stop(idOf(1) as VmId, 'none')
    await renewWith(await hosts.issue('URI:skerry://lab/host/h2'))
    await assert.rejects(connect().stop(idOf(1) as VmId, 'none'), {
      kind: 'unavailable',
    })
  },
)
