// Goal: a lab host behaves like a machine: programs live and die on it, power goes and comes, disks stay.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readlinkSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip, startHost, until } from '../src/index.ts'
import { isAlive, nameOf } from '../src/system/processes.ts'

const skip = reasonToSkip('host') ?? false

const DOMAIN = `<domain type='qemu'><name>keeper</name><memory unit='MiB'>64</memory>
  <os><type arch='x86_64' machine='q35'>hvm</type></os></domain>`

/** A host for one test, in a directory that is deleted with it. */
async function ownHost() {
  const dir = await mkdtemp(join(tmpdir(), 'lab-host-'))
  const host = await startHost({ dir })
  return {
    host,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

test(
  'a program started on a host lives there, and its pid and kill are its own',
  { skip },
  async () => {
    await using machine = await ownHost()
    const { host } = machine
    const child = host.spawn(['sleep', '1000'], { stdio: 'ignore' })
    const pid = child.pid ?? 0
    await until('the program should have started', () => nameOf(pid) === 'sleep')
    for (const kind of ['net', 'mnt', 'pid', 'uts', 'ipc']) {
      assert.equal(
        readlinkSync(`/proc/${pid}/ns/${kind}`),
        readlinkSync(`/proc/${host.init}/ns/${kind}`),
      )
    }

    assert.equal(child.kill('SIGTERM'), true)
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    assert.deepEqual([code, signal, isAlive(pid)], [null, 'SIGTERM', false])
    assert.equal(child.kill(), false)
  },
)

test(
  'a stopped program can continue, and dies with the host even while stopped',
  { skip },
  async () => {
    await using machine = await ownHost()
    const { host } = machine
    const child = host.spawn(['cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    assert.ok(child.stdin && child.stdout)
    child.kill('SIGSTOP')
    child.kill('SIGCONT')
    child.stdin.write('hello')
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    assert.equal(said.toString(), 'hello')

    child.kill('SIGSTOP')
    await host.powerCut()
    await until('the child should report its end', () => child.signalCode === 'SIGKILL')
    assert.equal(isAlive(child.pid ?? 0), false)
  },
)

test('a program on a host returns its output and its exit code', { skip }, async () => {
  await using machine = await ownHost()
  const outcome = await machine.host.run(['sh', '-c', 'hostname; echo no >&2; exit 3'])
  assert.deepEqual(outcome, { stdout: 'host-1\n', stderr: 'no\n', code: 3 })
})

test('orphans are reaped by the first process', { skip }, async () => {
  await using machine = await ownHost()
  const { host } = machine
  const { stdout } = await host.run(['sh', '-c', '(sleep 0.01 & echo $!)'])
  await until('the orphan should leave no zombie', async () => {
    const { code } = await host.run(['test', '-e', `/proc/${stdout.trim()}`])
    return code !== 0
  })
})

test(
  'killing libvirtd leaves the host running, and the same socket works after a restart',
  { skip },
  async () => {
    await using machine = await ownHost()
    const { host } = machine
    const { init, libvirt } = host
    await host.killLibvirt()
    assert.equal(isAlive(libvirt.pid), false)
    assert.throws(() => host.libvirt, /no libvirtd runs on host-1/)

    await host.startLibvirt()
    assert.equal(host.init, init)
    assert.equal(host.libvirt.socket, libvirt.socket)
    assert.notEqual(host.libvirt.pid, libvirt.pid)
  },
)

test(
  'a power cut ends everything at once, and power on restores what was on disk',
  { skip },
  async () => {
    await using machine = await ownHost()
    const { host } = machine
    const fresh = await host.run(['virsh', '-q', 'net-list', '--all'])
    assert.deepEqual(fresh, { stdout: '', stderr: '', code: 0 })
    await host.run([
      'sh',
      '-c',
      `echo "$1" >/var/lib/skerry/domain.xml; touch /run/volatile`,
      'sh',
      DOMAIN,
    ])
    assert.equal((await host.run(['virsh', 'define', '/var/lib/skerry/domain.xml'])).code, 0)
    await host.run(['ip', 'link', 'add', 'virbr0', 'type', 'bridge'])
    const { init, libvirt } = host

    await host.powerCut()
    assert.deepEqual([isAlive(init), isAlive(libvirt.pid)], [false, false])
    assert.throws(() => host.init, /host-1 is off/)
    assert.equal(existsSync(`/run/netns/${host.netns}`), false)

    await host.powerOn()
    assert.equal(
      (await host.run(['virsh', '-q', 'list', '--all', '--name'])).stdout.trim(),
      'keeper',
    )
    assert.equal((await host.run(['ip', 'link', 'show', 'virbr0'])).code, 1)
    assert.deepEqual((await readdir(join(host.dir, 'run'))).includes('volatile'), false)
  },
)

test(
  'a host dies with the program that started it, and the next start removes its name',
  { skip },
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'lab-host-'))
    const index = join(import.meta.dirname, '../src/index.ts')
    const script = `const { startHost } = await import(${JSON.stringify(index)})
    const { init, netns } = await startHost({ dir: ${JSON.stringify(join(dir, 'a'))} })
    console.log(JSON.stringify({ init, netns }))
    setInterval(() => {}, 1000)`
    const starter = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = (await once(starter.stdout, 'data')) as [Buffer]
    const { init, netns } = JSON.parse(said.toString()) as { init: number; netns: string }
    starter.kill('SIGKILL')
    await until('the host should lose power', () => !isAlive(init))

    {
      await using _ = await startHost({ dir: join(dir, 'b') })
      assert.equal(existsSync(`/run/netns/${netns}`), false)
    }
    await rm(dir, { recursive: true })
  },
)

test('a directory that the host itself would hide is rejected', { skip }, async () => {
  await assert.rejects(startHost({ dir: '/run/skerry-refused' }), /cannot be in \/run/)
  await rm('/run/skerry-refused', { recursive: true, force: true })
})
