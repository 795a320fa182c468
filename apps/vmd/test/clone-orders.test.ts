// Goal: a clone of a cloud VM is created on its host, once, from a VM that is off, and is independent of it.
// Method: a real libvirtd with its in-memory driver, real disks, real TLS with certificates by openssl.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { changePower, readVm, vmIds } from '@skerry/engine'
import type { Goal } from '@skerry/host-api'
import { reasonWithoutRoot } from '@skerry/lab'
import type { TaskId } from '@skerry/vm'

import { startCloudHost, type CloudHost } from './cloud-host.ts'
import { gone, idOf, orderOf, ordersTo, to } from './cloud-orders.ts'

const run = promisify(execFile)
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
const { specOf, made } = ordersTo(cloud)

const cloned = (source: string, more: object = {}): Goal => ({
  goal: 'cloned',
  spec: specOf({ name: 'a copy', memoryMiB: 96 }),
  source,
  ...more,
})
const task = 'copy' as TaskId
const lifeOf = (vm: string, incarnation: string) =>
  join(cloud().emulated.host.paths.data, 'cloud/vms', `${vm}.vm`, incarnation)
const recordOf = async (vm: string) => {
  const { paths } = cloud().emulated.host
  const text = await readFile(join(paths.data, 'cloud/vms', `${vm}.json`), 'utf8')
  return JSON.parse(text) as { readonly uuid: string; readonly incarnation: string }
}

test('a clone has the current disk of its source, and outlives the source', { skip }, async () => {
  const [source, copy] = [idOf(1), idOf(2)]
  const link = await made(source)
  const order = orderOf(copy, 'define', 20, { task, incarnation: '7' })
  const seed = { hostname: 'copy-1' }
  const report = await link.step(order, cloned(source, { seed }))
  const { vm } = report
  assert.deepEqual(
    [vm?.name, vm?.power, vm?.incarnation, vm?.memoryMiB],
    ['a copy', 'off', '7', 96],
  )
  assert.notEqual((await recordOf(copy)).uuid, (await recordOf(source)).uuid, 'another MAC')
  const inode = async (file: string) => (await stat(file)).ino
  for (const layer of ['layer-0.qcow2', 'layer-1.qcow2']) {
    const [one, other] = [join(lifeOf(source, '1'), layer), join(lifeOf(copy, '7'), layer)]
    assert.equal(await inode(one), await inode(other), `${layer} is read-only`)
  }
  const { stdout } = await run('mtype', ['-i', join(lifeOf(copy, '7'), 'seed.img'), '::meta-data'])
  assert.match(stdout, new RegExp(`instance-id: "${(await recordOf(copy)).uuid}"`))
  assert.match(stdout, /local-hostname: "copy-1"/)

  await cloud().restart()
  const again = cloud().connect()
  assert.deepEqual(
    await again.step({ ...order, fencingToken: '21' }, cloned(source, { seed })),
    report,
  )
  await again.step(orderOf(source, 'gone', 30, { task: 'delete' as TaskId }), gone)
  await again.step(orderOf(copy, 'on', 31, { task: 'on' as TaskId, incarnation: '7' }), to('on'))
  const { host } = cloud().emulated
  assert.equal((await readVm(host, copy, 'cloud')).power, 'on')
  const record = (await Array.fromAsync(again.records())).find((each) => each.vm === copy)
  assert.deepEqual(record?.spec, specOf({ name: 'a copy', memoryMiB: 96 }))
})

test(
  'a VM that runs or does not exist is not cloned, and nothing is left behind',
  { skip },
  async () => {
    const [source, copy] = [idOf(3), idOf(4)]
    const link = await made(source)
    const { host } = cloud().emulated
    await changePower(host, source, 'on', { owner: 'cloud' })
    const order = orderOf(copy, 'define', 20, { task })
    await assert.rejects(link.step(order, cloned(source)), { kind: 'wrong-state', detail: 'on' })
    await assert.rejects(link.step(order, cloned(idOf(99))), { kind: 'gone' })
    await assert.rejects(link.step(order, cloned('../x')), { kind: 'invalid' })
    assert.ok(!vmIds(host, 'cloud').some((id) => id === copy))
    await link.step(orderOf(copy, 'undo', 21, { task }), gone)
    await assert.rejects(stat(lifeOf(copy, '1')), { code: 'ENOENT' })
  },
)

test('an incomplete clone left by a crash is created again', { skip }, async () => {
  const [source, copy] = [idOf(5), idOf(6)]
  const link = await made(source)
  const { host } = cloud().emulated
  const order = orderOf(copy, 'define', 20, { task })
  await link.step(order, cloned(source))
  const record = host.records.get(copy, 'cloud')
  assert.ok(record)
  await host.records.write({ ...record, phase: 'making' })
  // The attempt that died did not record its result; another key simulates that.
  const next = orderOf(copy, 'define-again', 21, { task })
  assert.equal((await link.step(next, cloned(source))).vm?.power, 'off')
  assert.equal(host.records.get(copy, 'cloud')?.phase, 'there')
  assert.notEqual((await recordOf(copy)).uuid, record.uuid)
})
