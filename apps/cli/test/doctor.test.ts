// Goal: each check reports the real state. Method: a simulated machine of files and sockets, once healthy and once broken.
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { overlayFinding, type MachineFinding } from '@skerry/vm'

import { examine, type Places } from '../src/machine/checks.ts'
import { localClient } from '../src/vms/local-client.ts'
import { answer, skerry, startDaemon } from './terminal.ts'

async function makeDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'doctor-'))
  return {
    directory,
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true, force: true }),
  }
}

const placesIn = (directory: string): Places => ({
  libvirtSocket: join(directory, 'libvirt-sock'),
  cpuinfo: join(directory, 'cpuinfo'),
  kvm: join(directory, 'kvm'),
  data: join(directory, 'data'),
  bridge: join(directory, 'skerry0'),
})

const states = (findings: readonly MachineFinding[]) =>
  Object.fromEntries(findings.map(({ check, state }) => [check, state]))

test('a healthy machine has nothing to fix', async () => {
  await using made = await makeDirectory()
  const { directory } = made
  const places = placesIn(directory)
  const libvirt = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => libvirt.listen(places.libvirtSocket, resolve))
  await writeFile(places.cpuinfo, 'flags\t\t: fpu vmx sse\n')
  for (const name of ['kvm', 'skerry0']) await writeFile(join(directory, name), '')
  const bin = join(directory, 'bin')
  await mkdir(bin)
  for (const name of [
    'qemu-system-x86_64',
    'qemu-img',
    'virtiofsd',
    'dnsmasq',
    'mkfs.vfat',
    'mcopy',
  ]) {
    await writeFile(join(bin, name), '')
    await chmod(join(bin, name), 0o755)
  }
  await using daemon = await startDaemon((requested, reply) =>
    answer(reply, 200, requested.includes('templates') ? [{ name: 'default' }] : { status: 'ok' }),
  )
  const findings = await examine({ api: localClient(daemon.url), path: bin }, places)
  libvirt.close()
  const wrong = findings.filter(({ check, state }) => state !== 'ok' && check !== 'space')
  assert.deepEqual(wrong, [])
  assert.equal(findings.length, 12)
})

test('on a broken machine each check explains the fix', async () => {
  await using made = await makeDirectory()
  const context = { api: localClient('http://127.0.0.1:9'), path: '' }
  const findings = await examine(context, placesIn(made.directory))
  const { libvirt, acceleration, vmd, ...rest } = states(findings)
  assert.deepEqual(
    [libvirt, acceleration, vmd, rest['network skerry'], rest['template default']],
    ['fail', 'warn', 'fail', 'fail', 'warn'],
  )
  for (const { state, fix } of findings) assert.equal(fix === undefined, state === 'ok')
})

test('a missing template fails with how to create one, a degraded vmd with its reasons', async () => {
  await using made = await makeDirectory()
  const reasons = ['libvirt does not answer: see that libvirtd runs']
  await using daemon = await startDaemon((requested, reply) =>
    answer(reply, 200, requested.includes('templates') ? [] : { status: 'degraded', reasons }),
  )
  const context = { api: localClient(daemon.url), path: '' }
  const findings = await examine(context, placesIn(made.directory))
  const found = findings.find(({ check }) => check === 'template default')
  assert.equal(found?.state, 'fail')
  assert.match(found?.fix ?? '', /skerry template import/)
  assert.equal(findings.find(({ check }) => check === 'vmd')?.fix, reasons[0])
})

test('networks across hosts are as vmd found them, on a machine that has them', async () => {
  await using made = await makeDirectory()
  const overlay = overlayFinding(
    { state: 'failing', reason: 'the MTU of eth0 is 1400; tunnels need 1500', uplinks: [] },
    false,
  )
  await using daemon = await startDaemon((requested, reply) =>
    answer(reply, 200, requested.includes('templates') ? [] : { status: 'ok', checks: [overlay] }),
  )
  const context = { api: localClient(daemon.url), path: '' }
  const findings = await examine(context, placesIn(made.directory))
  assert.deepEqual(findings.at(-1), overlay)
  assert.match(overlay?.fix ?? '', /raise the MTU/)
  assert.equal(overlayFinding({ state: 'none', uplinks: [] }, false), undefined)
  assert.equal(overlayFinding({ state: 'ready', uplinks: ['out'] }, false)?.state, 'ok')
  assert.equal(overlayFinding({ state: 'ready', uplinks: ['out'] }, true)?.state, 'warn')
})

test('doctor exits with 1 if a check fails, also with --json', async () => {
  const { code, out } = await skerry('http://127.0.0.1:9', ['doctor', '--json'])
  assert.equal(code, 1)
  const findings = JSON.parse(out) as MachineFinding[]
  assert.equal(states(findings)['vmd'], 'fail')
  const text = await skerry('http://127.0.0.1:9', ['doctor'])
  assert.equal(text.code, 1)
  assert.match(text.out, /^STATE +CHECK +FOUND\n/)
  assert.match(text.out, /^fix vmd: sudo skerry vmd$/m)
})
