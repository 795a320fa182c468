// Goal: the host API executes each order once, and recovers from any crash.
// Method: a real libvirtd with its in-memory driver, real disks, real TLS with certificates by openssl.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { changePower, createVm, listSnapshots, listVms } from '@skerry/engine'
import type { Fault } from '@skerry/fault'
import type { Goal, HostApi } from '@skerry/host-api'
import { reasonWithoutRoot, until } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { Order, TaskId } from '@skerry/vm'

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
const { specOf, defined, made } = ordersTo(cloud)

test('a VM is created from its image, used, and deleted to a tombstone', { skip }, async () => {
  const { connect, emulated, image, requested } = cloud()
  const { host } = emulated
  const [vm, link] = [idOf(1), connect()]
  await link.step(orderOf(vm, 'image', 10), { goal: 'image', digest: image })
  assert.deepEqual(requested, [`/machine/v1/images/${image}?vm=${vm}`])
  const { vm: fresh } = await link.step(orderOf(vm, 'define', 10), defined())
  assert.deepEqual([fresh?.power, fresh?.name, fresh?.incarnation], ['off', 'a VM', '1'])
  const life = join(host.paths.data, 'cloud/vms', `${vm}.vm`, '1')
  const cached = await stat(join(host.paths.data, 'cloud/images', `${image}.qcow2`))
  assert.equal((await stat(join(life, 'layer-0.qcow2'))).ino, cached.ino)

  let number = 11
  for (const power of ['on', 'suspended', 'on', 'off', 'off'] as const) {
    const task = `task-${number}` as TaskId
    const report = await link.step(orderOf(vm, 'power', number, { task }), to(power))
    assert.equal(report.vm?.power, power)
    number += 1
  }
  const task = 'delete' as TaskId
  const last = await link.step(orderOf(vm, 'gone', 20, { task }), gone)
  assert.equal(last.vm, undefined)
  await assert.rejects(stat(life), { code: 'ENOENT' })
  assert.deepEqual(await link.step(orderOf(vm, 'gone', 21, { task }), gone), last)
  const record = (await Array.fromAsync(link.records())).find((each) => each.vm === vm)
  assert.deepEqual([record?.highest, record?.incarnation], ['21', '1'])
  assert.deepEqual(record?.spec, specOf())
  assert.match(record?.gone ?? '', /^1970/)
})

test(
  'a guest gets its seed, and the record of its orders does not contain it',
  { skip },
  async () => {
    const { connect, emulated, image, onDisk } = cloud()
    const [vm, link] = [idOf(30), connect()]
    const canary = 'canary-c0ffee'
    const seed = { hostname: 'web-1', userData: `#cloud-config\n# ${canary}\n` }
    await link.step(orderOf(vm, 'image', 10), { goal: 'image', digest: image })
    await link.step(orderOf(vm, 'define', 10), { goal: 'defined', spec: specOf(), seed })
    const file = join(emulated.host.paths.data, 'cloud/vms', `${vm}.vm`, '1', 'seed.img')
    const reported = async (name: string) =>
      (await promisify(execFile)('mtype', ['-i', file, `::${name}`])).stdout
    assert.equal(await reported('user-data'), seed.userData)
    assert.match(await reported('meta-data'), /local-hostname: "web-1"/)
    for (const [path, base64] of Object.entries(await onDisk())) {
      if (path === file) continue
      assert.ok(!Buffer.from(base64, 'base64').includes(canary), `${path} has it too`)
    }
    assert.ok(!JSON.stringify(await Array.fromAsync(link.records())).includes(canary))
    await link.step(orderOf(vm, 'gone', 11, { task: 'delete' as TaskId }), gone)
    await assert.rejects(stat(file), { code: 'ENOENT' })
  },
)

test('local and host API see only their own VMs, also with equal ids', { skip }, async () => {
  const { emulated, connect } = cloud()
  const { host } = emulated
  const [both, local] = [idOf(2), idOf(3)]
  await createVm(host, { id: both, name: 'a laptop’s' })
  await createVm(host, { id: local })
  const link = await made(both)
  await link.step(orderOf(both, 'on', 10), to('on'))
  assert.deepEqual(
    (await listVms(host)).map(({ id, power }) => [id, power]),
    [
      [both, 'off'],
      [local, 'off'],
    ],
  )
  const ids: string[] = []
  for await (const line of connect().follow('50', AbortSignal.timeout(60_000))) {
    if (line.kind === 'hello') assert.deepEqual(line.hello.local, { cpus: 2, memoryMiB: 1024 })
    if (line.kind === 'vm') ids.push(line.id)
    if (line.kind === 'listEnd') break
  }
  assert.deepEqual(ids, [both])
  await assert.rejects(link.step(orderOf(local, 'on', 10), to('on')), { kind: 'gone' })
  await link.step(orderOf(local, 'gone', 10), gone)
  await link.step(orderOf(both, 'gone', 10), gone)
  assert.deepEqual(
    (await listVms(host)).map(({ id }) => id as string),
    [both, local],
  )
})

test(
  'a repeated step returns its first result, also after a restart of vmd',
  { skip },
  async () => {
    const { emulated, restart, connect } = cloud()
    const vm = idOf(6)
    const link = await made(vm)
    const order = orderOf(vm, 'on', 11, { task: 'on' as TaskId, from: ['off'] })
    const report = await link.step(order, to('on'))
    await changePower(emulated.host, vm, 'off', { owner: 'cloud' })
    assert.deepEqual(await link.step(order, to('on')), report)
    await restart()
    assert.deepEqual(await connect().step({ ...order, fencingToken: '12' }, to('on')), report)
    assert.equal((await listVms(emulated.host, 'cloud')).find(({ id }) => id === vm)?.power, 'off')
  },
)

test('a step whose outcome was not recorded detects that its work is done', { skip }, async () => {
  const { emulated, restart, connect } = cloud()
  const vm = idOf(7)
  await made(vm)
  // The state after a vmd died between acting and recording: the guest is on, the fencing token is unknown.
  await changePower(emulated.host, vm, 'on', { owner: 'cloud' })
  await restart()
  const link = connect()
  const order = orderOf(vm, 'on', 11, { task: 'on' as TaskId, from: ['off'] })
  assert.equal((await link.step(order, to('on'))).vm?.power, 'on')
  const wrong = orderOf(vm, 'reset', 11, { task: 'on' as TaskId, from: ['suspended'] })
  await assert.rejects(link.step(wrong, { goal: 'reset' }), { kind: 'wrong-state', detail: 'on' })
})

test(
  'a step with required start states is rejected in any other state, and nothing changes',
  { skip },
  async () => {
    const { emulated } = cloud()
    const vm = idOf(14)
    const link = await made(vm)
    await changePower(emulated.host, vm, 'on', { owner: 'cloud' })
    const power = async () =>
      (await listVms(emulated.host, 'cloud')).find(({ id }) => id === vm)?.power
    const order = (step: string, number: number, from: Order['from']) =>
      orderOf(vm, step, number, { task: `${step}-${number}` as TaskId, from: from ?? [] })
    const wrong = { kind: 'wrong-state', detail: 'on' }
    await assert.rejects(link.step(order('gone', 11, ['off', 'suspended']), gone), wrong)
    await assert.rejects(link.step(order('off', 12, ['suspended']), to('off')), wrong)
    assert.equal(await power(), 'on')
    assert.equal((await link.step(order('on', 13, ['off']), to('on'))).vm?.power, 'on')
    await link.step(order('off', 14, ['on']), to('off'))
    const deleted = order('gone', 15, ['off', 'suspended'])
    assert.equal((await link.step(deleted, gone)).vm, undefined)
    assert.equal((await link.step({ ...deleted, key: 'again' }, gone)).vm, undefined)
  },
)

test('a create that was interrupted is completed by the same step', { skip }, async () => {
  const { emulated, restart, connect } = cloud()
  const { host } = emulated
  const vm = idOf(8)
  await made(vm)
  const file = join(host.paths.data, 'cloud/orders', `${vm}.json`)
  const kept = JSON.parse(await readFile(file, 'utf8')) as { results: Record<string, unknown> }
  delete kept.results['t/define']
  await writeFile(file, JSON.stringify(kept))
  const record = host.records.get(vm, 'cloud')
  assert(record)
  await host.records.write({ ...record, phase: 'making' })
  await restart()
  const link = connect()
  assert.equal((await link.step(orderOf(vm, 'define', 10), defined())).vm?.power, 'off')
  const bigger = orderOf(vm, 'define', 11, { task: 'reconfigure' as TaskId })
  const { vm: now } = await link.step(bigger, defined({ cpus: 2, diskMiB: 70, name: 'new' }))
  assert.deepEqual([now?.cpus, now?.memoryMiB, now?.diskMiB, now?.name], [2, 64, 70, 'new'])
})

test(
  'a step that cannot be repeated and has no known outcome is not repeated',
  { skip },
  async () => {
    const { emulated, restart, connect } = cloud()
    const vm = idOf(9)
    const link = await made(vm)
    await link.step(orderOf(vm, 'on', 10), to('on'))
    const file = join(emulated.host.paths.data, 'cloud/orders', `${vm}.json`)
    const kept = JSON.parse(await readFile(file, 'utf8')) as object
    await writeFile(file, JSON.stringify({ ...kept, begun: ['t/reset'] }))
    await restart()
    for (const number of [10, 11]) {
      await assert.rejects(connect().step(orderOf(vm, 'reset', number), { goal: 'reset' }), {
        kind: 'interrupted',
      })
    }
  },
)

test(
  'a snapshot replaces the previous one, can be reverted to, and is removed',
  { skip },
  async () => {
    const { host } = cloud().emulated
    const vm = idOf(41)
    const link = await made(vm)
    const names = async () => (await listSnapshots(host, vm, 'cloud')).map(({ name }) => name)
    const kept = (name: string): Goal => ({ goal: 'snapshotted', name, memory: true })
    for (const name of ['one', 'two']) {
      await link.step(orderOf(vm, name, 10), kept(name))
      assert.deepEqual(await names(), [name])
    }
    // The state after a vmd died between taking the snapshot and recording it.
    await link.step(orderOf(vm, 'two again', 10), kept('two'))
    assert.deepEqual(await names(), ['two'])
    const { vm: back } = await link.step(orderOf(vm, 'back', 10), { goal: 'reverted', name: 'two' })
    assert.equal(back?.power, 'off')
    for (const step of ['none', 'none again']) {
      await link.step(orderOf(vm, step, 10), { goal: 'noSnapshots' })
      assert.deepEqual(await names(), [])
    }
  },
)

test('deleting a missing VM leaves a tombstone', { skip }, async () => {
  const { connect } = cloud()
  const [vm, link] = [idOf(10), connect()]
  assert.equal((await link.step(orderOf(vm, 'gone', 30), gone)).vm, undefined)
  const late = orderOf(vm, 'define', 31, { task: 'late' as TaskId })
  await assert.rejects(link.step(late, defined()), { kind: 'gone', detail: '1' })
  const { vm: next } = await link.step({ ...late, incarnation: '2' }, defined())
  assert.equal(next?.incarnation, '2')
})

test('a later incarnation replaces one that does not run, and no other', { skip }, async () => {
  const { emulated } = cloud()
  const vm = idOf(11)
  const link = await made(vm)
  const later = (number: number) => orderOf(vm, 'define', number, { incarnation: '2' })
  await changePower(emulated.host, vm, 'on', { owner: 'cloud' })
  await assert.rejects(link.step(later(11), defined()), { kind: 'wrong-state', detail: 'on' })
  await changePower(emulated.host, vm, 'off', { owner: 'cloud' })
  assert.equal((await link.step(later(11), defined())).vm?.incarnation, '2')
  const lives = await readdir(join(emulated.host.paths.data, 'cloud/vms', `${vm}.vm`))
  assert.deepEqual(lives, ['2'])
})

test('a VM whose orders are lost is quarantined until it is adopted', { skip }, async () => {
  const { emulated, restart, connect } = cloud()
  const vm = idOf(12)
  await made(vm)
  const file = join(emulated.host.paths.data, 'cloud/orders', `${vm}.json`)
  for (const lose of [() => writeFile(file, '{"format":1,"vm":"'), () => rm(file)]) {
    await lose()
    await restart()
    for (const goal of [to('on'), gone, defined()]) {
      const requested = connect().step(orderOf(vm, goal.goal, 40), goal)
      await assert.rejects(requested, { kind: 'wrong-state', detail: 'quarantined' })
    }
  }
  const link = connect()
  const reported = async () =>
    (await Array.fromAsync(link.records())).filter((each) => each.vm === vm)
  const nothing = { vm, incarnation: '1', highest: '0', task: '', exists: true, lost: true }
  assert.deepEqual(await reported(), [nothing], 'it reports the VM, and that its orders are lost')
  const adopted: Goal = { goal: 'adopted', spec: specOf() }
  const other = orderOf(vm, 'adopt', 41, { incarnation: '2' })
  await assert.rejects(link.step(other, adopted), { kind: 'other-incarnation' })
  await link.step(orderOf(vm, 'adopt', 41), adopted)
  const [known] = await reported()
  assert.deepEqual([known?.highest, known?.spec, known?.exists], ['41', specOf(), true])
  assert.equal((await link.step(orderOf(vm, 'on', 41), to('on'))).vm?.power, 'on')
})

test('an image whose digest does not match is not kept', { skip }, async () => {
  const { connect, images, emulated } = cloud()
  const link = connect()
  const raw = Buffer.alloc(1024 ** 2, 'x')
  const wrong = 'a'.repeat(64)
  const rawDigest = createHash('sha256').update(raw).digest('hex')
  images.set(wrong, raw)
  images.set(rawDigest, raw)
  const ask = (digest: string) =>
    link.step(orderOf(idOf(13), digest, 50), { goal: 'image', digest })
  await assert.rejects(ask(wrong), { kind: 'image-refused' })
  await assert.rejects(ask(rawDigest), { kind: 'image-refused' })
  await assert.rejects(ask('b'.repeat(64)), { kind: 'forbidden', message: 'not yours' })
  const cached = await readdir(join(emulated.host.paths.data, 'cloud/images'))
  assert.deepEqual(cached, [`${cloud().image}.qcow2`])
})

test('a running image transfer stops for a later claim, or on request', { skip }, async () => {
  const { connect, images, stalled, requested, emulated } = cloud()
  const link = connect()
  const vm = idOf(16)
  const bytes = Buffer.concat([images.get(cloud().image) ?? Buffer.alloc(0), Buffer.alloc(65_536)])
  const digest = createHash('sha256').update(bytes).digest('hex')
  images.set(digest, bytes)
  stalled.add(digest)
  const left = async () =>
    (await readdir(join(emulated.host.paths.data, 'cloud/images'))).filter((name) =>
      name.startsWith(digest),
    )
  const begun = () =>
    until('the cell receives the request', () => requested.some((url) => url.includes(digest)))
  const pulled = (number: number) =>
    link.step(orderOf(vm, 'image', number), { goal: 'image', digest })
  const stopped = assert.rejects(pulled(10), { kind: 'canceled' })
  await begun()
  await until('half of it has arrived', async () => (await left()).length > 0)
  await link.stop(orderOf(vm, 'image', 10).vm, 't/image')
  await stopped
  assert.deepEqual(await left(), [])

  const displaced = assert.rejects(pulled(10), { kind: 'stale', detail: '11' })
  await until('half of it has arrived', async () => (await left()).length > 0)
  await link.step(orderOf(vm, 'undo', 11), gone)
  await displaced
  assert.deepEqual(await left(), [])

  stalled.delete(digest)
  const next = orderOf(vm, 'image', 12, { incarnation: '2' })
  await link.step(next, { goal: 'image', digest })
  assert.deepEqual(await left(), [`${digest}.qcow2`])
})

test('a simulated host answers like a real one', { skip }, async () => {
  const vm = idOf(15)
  const u = { task: 'u' as TaskId }
  const later = { incarnation: '2' }
  const requested: readonly (readonly [Order, Goal])[] = [
    [orderOf(vm, 'on', 10), to('on')],
    [orderOf(vm, 'image', 10), { goal: 'image', digest: cloud().image }],
    [orderOf(vm, 'define', 10), defined()],
    [orderOf(vm, 'define', 9), defined()],
    [orderOf(vm, 'define', 11), defined()],
    [orderOf(vm, 'on', 11, u), to('on')],
    [orderOf(vm, 'on', 12, { ...u, from: ['suspended'] }), to('on')],
    [orderOf(vm, 'on', 12, { ...u, from: ['off'] }), to('on')],
    [orderOf(vm, 'again', 12, { ...u, from: ['off'] }), to('on')],
    [orderOf(vm, 'nest on', 12, u), { goal: 'nested', to: true }],
    [orderOf(vm, 'asleep', 12, u), to('suspended')],
    [orderOf(vm, 'off', 12, u), to('off')],
    [orderOf(vm, 'nest', 12, u), { goal: 'nested', to: true }],
    [orderOf(vm, 'nest again', 12, u), { goal: 'nested', to: true }],
    [orderOf(vm, 'unnest', 12, u), { goal: 'nested', to: false }],
    [orderOf(vm, 'reset', 12, u), { goal: 'reset' }],
    [orderOf(vm, 'other', 12), to('on')],
    [orderOf(vm, 'life', 13, later), to('on')],
    [orderOf(vm, 'define', 13, { ...u, ...later }), defined({ cpus: 2 })],
    [orderOf(vm, 'old', 14), gone],
    [orderOf(vm, 'gone', 14, later), gone],
    [orderOf(vm, 'gone', 15, later), gone],
    [orderOf(vm, 'on', 15, later), to('on')],
    [orderOf(vm, 'define', 16, { ...u, ...later }), defined()],
    [orderOf(vm, 'define', 16, { ...u, incarnation: '3' }), defined()],
  ]
  const answers = async (host: HostApi) => {
    const said: unknown[] = []
    for (const [order, goal] of requested) {
      said.push(
        await host.step(order, goal).then(
          // Boot ids and addresses differ between hosts.
          ({ vm: now }) =>
            now && { ...now, boot: null, card: Object.keys(now.card ?? {}).toSorted() },
          (fault: Fault) => [fault.kind, fault.kind === 'wrong-state' ? '' : fault.detail],
        ),
      )
    }
    const left = (await Array.fromAsync(host.records())).find((record) => record.vm === vm)
    return [...said, left]
  }
  assert.deepEqual(await answers(simulatedHost()), await answers(cloud().connect()))
})
