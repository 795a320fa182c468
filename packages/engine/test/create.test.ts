// Goal: VMs are created, created again and cloned as the contract requires, and a failure leaves nothing.
// Method: a real libvirtd with its in-memory driver, real disks.
import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { after, before, test } from 'node:test'

import { reasonWithoutRoot } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'

import { readLayers } from '../src/disk/disk.ts'
import { findVm, readFacts } from '../src/domain/find-domain.ts'
import type { Host } from '../src/host/host.ts'
import { recordsDirectory } from '../src/host/paths.ts'
import { cloneVm } from '../src/vm/clone.ts'
import { configureVm, setNested } from '../src/vm/configure.ts'
import { createVm, type NewVm } from '../src/vm/create.ts'
import { changePower } from '../src/vm/power.ts'
import { readVm } from '../src/vm/vms.ts'
import { startEmulatedHost, type EmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false

let emulated: EmulatedHost | undefined
before(async () => {
  if (skip === false) emulated = await startEmulatedHost()
})
after(() => emulated?.[Symbol.asyncDispose]())
const onHost = (): Host => {
  assert(emulated, 'the host has started')
  return emulated.host
}

const left = async (host: Host) =>
  (await readdir(recordsDirectory(host.paths, 'local'), { recursive: true })).sort()
const domains = async ({ link }: Host) =>
  (await link.call(libvirt.connectListAllDomains, { needResults: 1, flags: 0 })).domains.map(
    ({ name }) => name,
  )
const layersOf = async (host: Host, id: string) =>
  readLayers((await readFacts(host, (await findVm(host, id)).dom, 'next')).disk)

test('omitted settings have defaults', { skip }, async () => {
  assert.deepEqual(await createVm(onHost(), { id: 'plain' }), {
    id: 'plain',
    name: 'plain',
    tag: '',
    power: 'off',
    incarnation: '1',
    boot: null,
    cpus: 1,
    memoryMiB: 512,
    diskMiB: 64,
    nested: false,
    autostart: false,
    sharing: false,
  })
})

test('the VM has the requested settings', { skip }, async () => {
  const requested = {
    id: 'A.b_c-9',
    name: 'a <name> & "more"',
    tag: 'x\ny',
    cpus: 3,
    memoryMiB: 100,
    diskMiB: 100,
    autostart: true,
    incarnation: '7',
  }
  const vm = await createVm(onHost(), requested)
  assert.deepEqual({ ...vm, ...requested }, vm)
})

test('a repeated request, with or without defaults, returns the same VM', { skip }, async () => {
  const host = onHost()
  const vm = await createVm(host, { id: 'again', tag: 't' })
  const spelledOut: NewVm = {
    tag: 't',
    id: 'again',
    name: 'again',
    template: 'default',
    cpus: 1,
    memoryMiB: 512,
    owner: 'local',
    incarnation: '1',
    autostart: false,
  }
  assert.deepEqual(await createVm(host, { id: 'again', tag: 't' }), vm)
  assert.deepEqual(await createVm(host, spelledOut), vm)
  for (const other of [{ tag: 'u' }, { cpus: 2 }, { seed: {} }, { diskMiB: 64 }]) {
    await assert.rejects(createVm(host, { id: 'again', tag: 't', ...other }), { kind: 'conflict' })
  }
  assert.deepEqual(await readVm(host, 'again'), vm)
})

test('concurrent requests for one VM create it once', { skip }, async () => {
  const host = onHost()
  const vms = await Promise.all(Array.from({ length: 20 }, () => createVm(host, { id: 'once' })))
  assert.equal(new Set(vms.map((vm) => JSON.stringify(vm))).size, 1)
})

test('an invalid request is rejected before anything is created', { skip }, async () => {
  const host = onHost()
  const before = [await left(host), await domains(host)]
  const wrong: readonly NewVm[] = [
    ...['', '.', '../x', 'a b', 'power', 'x'.repeat(64)].map((id) => ({ id })),
    ...['', 'a\nb', '\u0000', 'x'.repeat(129)].map((name) => ({ id: 'wrong', name })),
    { id: 'wrong', tag: 'x'.repeat(1025) },
    { id: 'wrong', seed: { sshKeys: ['no key'] } },
    ...[0, -1, 1.5, Number.NaN, Infinity, 65].map((cpus) => ({ id: 'wrong', cpus })),
    ...[0, 63, 2 ** 31].map((memoryMiB) => ({ id: 'wrong', memoryMiB })),
    ...[0, 63, 2 ** 40].map((diskMiB) => ({ id: 'wrong', diskMiB })),
  ]
  for (const requested of wrong) {
    await assert.rejects(createVm(host, requested), { kind: 'invalid' }, JSON.stringify(requested))
  }
  await assert.rejects(createVm(host, { id: 'wrong', template: 'no-such' }), {
    kind: 'unavailable',
    message: 'template no-such not found on this host',
  })
  assert.deepEqual([await left(host), await domains(host)], before)
})

test('a domain not created by Skerry is not taken over', { skip }, async () => {
  const host = onHost()
  const xml =
    "<domain type='test'><name>local-theirs</name><memory>65536</memory><os><type>hvm</type></os></domain>"
  await host.link.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 })
  const before = await left(host)
  await assert.rejects(createVm(host, { id: 'theirs' }), {
    kind: 'conflict',
    message: 'libvirt already has a domain local-theirs',
  })
  assert.deepEqual(await left(host), before)
})

test('a definition that libvirt rejects leaves nothing behind', { skip }, async () => {
  const host = onHost()
  const before = [await left(host), await domains(host)]
  // A uuid that another domain already has.
  const { record } = await findVm(host, 'plain')
  const twin: Host = { ...host, ids: { uuid: () => record.uuid } }
  await assert.rejects(createVm(twin, { id: 'twin' }), { name: 'Fault' })
  assert.deepEqual([await left(host), await domains(host)], before)
})

test('ids that look like our own file names are valid', { skip }, async () => {
  const host = onHost()
  const ids = ['plain.json', 'plain.tmp', 'plain.json.tmp', 'plain.vm', 'plain.vm.json']
  for (const id of ids) assert.equal((await createVm(host, { id })).id, id)
  assert.equal((await readVm(host, 'plain')).id, 'plain')
})

test('a clone of a VM that is off is based on the parent’s disk', { skip }, async () => {
  const host = onHost()
  await createVm(host, { id: 'parent', cpus: 2, memoryMiB: 96, diskMiB: 80 })
  const clone = await cloneVm(host, { id: 'child', parent: 'parent', name: 'Child' })
  assert.deepEqual(
    [clone.name, clone.cpus, clone.memoryMiB, clone.diskMiB, clone.power],
    ['Child', 2, 96, 80, 'off'],
  )
  const [parent, child] = [await layersOf(host, 'parent'), await layersOf(host, 'child')]
  assert.deepEqual([parent.length, child.length], [3, 3])
  const inode = async (file: string | undefined) => (await stat(file ?? '')).ino
  assert.notEqual(await inode(parent[0]), await inode(child[0]))
  assert.equal(await inode(parent[1]), await inode(child[1]))
  assert.deepEqual(await cloneVm(host, { id: 'child', parent: 'parent', name: 'Child' }), clone)
  await assert.rejects(cloneVm(host, { id: 'child', parent: 'plain', name: 'Child' }), {
    kind: 'conflict',
  })
  await assert.rejects(createVm(host, { id: 'child', name: 'Child' }), { kind: 'conflict' })
})

test(
  'a clone of a suspended VM is a copy, and the parent’s disk is untouched',
  { skip },
  async () => {
    const host = onHost()
    await createVm(host, { id: 'asleep' })
    await changePower(host, 'asleep', 'on')
    await changePower(host, 'asleep', 'suspend')
    const before = await layersOf(host, 'asleep')
    assert.equal((await cloneVm(host, { id: 'copy', parent: 'asleep' })).power, 'off')
    assert.deepEqual(await layersOf(host, 'asleep'), before)
    assert.equal((await layersOf(host, 'copy')).length, 1)
  },
)

test('a clone is never smaller than its parent, and needs a parent', { skip }, async () => {
  const host = onHost()
  const before = [await left(host), await domains(host)]
  await assert.rejects(cloneVm(host, { id: 'small', parent: 'parent', diskMiB: 79 }), {
    kind: 'invalid',
    message: /at least 80/,
  })
  await assert.rejects(cloneVm(host, { id: 'orphan', parent: 'missing' }), { kind: 'not-found' })
  assert.deepEqual([await left(host), await domains(host)], before)
  const larger = await cloneVm(host, { id: 'larger', parent: 'parent', diskMiB: 100 })
  assert.equal(larger.diskMiB, 100)
})

test('VMs cloned from each other concurrently do not deadlock', { skip }, async () => {
  const host = onHost()
  const pairs = ['parent', 'child', 'plain'].flatMap((parent) =>
    [1, 2, 3].map((number) => ({ id: `${parent}-${number}`, parent })),
  )
  const made = await Promise.all(pairs.map((requested) => cloneVm(host, requested)))
  assert.deepEqual(
    made.map(({ id }) => id as string),
    pairs.map(({ id }) => id),
  )
})

test('hardware settings change only while the VM is off', { skip }, async () => {
  const host = onHost()
  await createVm(host, { id: 'changing' })
  const settings = { cpus: 2, memoryMiB: 128, diskMiB: 70 }
  const vm = await configureVm(host, 'changing', settings)
  assert.deepEqual({ ...vm, ...settings }, vm)
  assert.equal((await setNested(host, 'changing', true)).nested, true)
  await assert.rejects(configureVm(host, 'changing', { diskMiB: 69 }), { kind: 'invalid' })
  await assert.rejects(configureVm(host, 'changing', { cpus: 0 }), { kind: 'invalid' })
  await changePower(host, 'changing', 'on')
  await assert.rejects(configureVm(host, 'changing', { cpus: 1 }), { kind: 'conflict' })
  await assert.rejects(setNested(host, 'changing', false), { kind: 'conflict' })
  assert.equal((await setNested(host, 'changing', true)).nested, true)
  await assert.rejects(configureVm(host, 'changing', { cpus: 1, autostart: true }), {
    kind: 'conflict',
  })
  assert.equal((await readVm(host, 'changing')).autostart, false, 'it was rejected as a whole')
  const started = await configureVm(host, 'changing', { autostart: true })
  assert.deepEqual([started.autostart, started.cpus, started.power], [true, 2, 'on'])
})
