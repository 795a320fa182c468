// Goal: the power state that vmd returns from its cache is correct after any change and any crash. Method: a real guest; read
// until it is cached, then changed by us, by virsh, by its own end, and while libvirtd is dead.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { curlOn } from '../accept/curl.ts'
import { startEngine } from '../guest/engine.ts'

const skip = reasonToSkip('host', 'small') ?? false
const ROUNDS = 10
const RETURN_MS = 60_000

let dir: string
let host: LabHost
const { get, post, patch } = curlOn(() => host)

const read = async (): Promise<string | undefined> =>
  ((await get('/api/vms/power/vm')).body as { message?: string }).message

/** Reads until it is so, and once more: that one is cached. */
async function seen(state: string): Promise<void> {
  await until(`vmd says ${state}`, async () => (await read()) === state, RETURN_MS)
  assert.equal(await read(), state)
}

async function turned(command: string, state: string): Promise<void> {
  const answer = await patch('/api/vms/power/vm', command)
  assert.deepEqual(answer.body, { code: 200, message: state })
  assert.equal(await read(), state, `right after ${command}`)
}

async function virsh(...words: readonly string[]): Promise<void> {
  const { code, stderr } = await host.run(['virsh', '-q', ...words])
  assert.equal(code, 0, stderr)
}

/** The end of a guest that libvirt is not notified of. */
async function killQemu(): Promise<void> {
  const script = 'kill -9 "$(cat /run/libvirt/qemu/local-vm.pid)"'
  assert.equal((await host.run(['sh', '-c', script])).code, 0)
}

suite('the cached power state', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'known-'))
    host = await startHost({ dir: join(dir, 'host') })
    {
      await using engine = await startEngine(host)
      await engine.importTemplate('default', await guestImage('small'))
    }
    await host.startVmd()
    await post('/api/vms', { id: 'vm', memoryMiB: 128 })
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('after an answered command the next read returns its result', async () => {
    await turned('on', 'powered on')
    for (let round = 0; round < ROUNDS; round++) {
      await turned('pause', 'paused')
      await turned('unpause', 'powered on')
    }
    await turned('suspend', 'suspended')
    await turned('on', 'powered on')
  })

  test('changes by virsh are seen', async () => {
    await virsh('suspend', 'local-vm')
    await seen('paused')
    await virsh('resume', 'local-vm')
    await seen('powered on')
    await virsh('managedsave', 'local-vm')
    await seen('suspended')
    await virsh('managedsave-remove', 'local-vm')
    assert.equal(await read(), 'powered off', 'libvirt sends no event for this')
    await virsh('start', 'local-vm')
    await seen('powered on')
    await virsh('destroy', 'local-vm')
    await seen('powered off')
  })

  test('a guest whose QEMU dies is off', async () => {
    await turned('on', 'powered on')
    await killQemu()
    await seen('powered off')
  })

  test('changes while libvirtd was dead are seen when it is back', async () => {
    await turned('on', 'powered on')
    await host.killLibvirt()
    await killQemu()
    assert.deepEqual((await get('/api/vms')).body, ['vm'], 'the list needs no libvirt')
    await host.startLibvirt()
    await seen('powered off')
    await turned('on', 'powered on')
    await host.killLibvirt()
    await host.startLibvirt()
    await seen('powered on')
    await virsh('destroy', 'local-vm')
    await seen('powered off')
  })
})
