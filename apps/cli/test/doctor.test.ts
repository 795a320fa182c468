// Goal: each point is seen as it is. Method: a machine of files and sockets, once well and once ill.
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { examine, type Finding, type Places } from '../src/checks.ts'
import { localClient } from '../src/local-client.ts'
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

const states = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ check, state }) => [check, state]))

test('a machine that is well has nothing to mend', async () => {
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
  await using daemon = await startDaemon((asked, reply) =>
    answer(reply, 200, asked.includes('templates') ? [{ name: 'default' }] : { status: 'ok' }),
  )
  const findings = await examine({ api: localClient(daemon.url), path: bin }, places)
  libvirt.close()
  const amiss = findings.filter(({ check, state }) => state !== 'ok' && check !== 'space')
  assert.deepEqual(amiss, [])
  assert.equal(findings.length, 12)
})

test('a machine that is ill is told how to mend each point', async () => {
  await using made = await makeDirectory()
  const world = { api: localClient('http://127.0.0.1:9'), path: '' }
  const findings = await examine(world, placesIn(made.directory))
  const { libvirt, acceleration, vmd, ...rest } = states(findings)
  assert.deepEqual(
    [libvirt, acceleration, vmd, rest['network skerry'], rest['template default']],
    ['fail', 'warn', 'fail', 'fail', 'warn'],
  )
  for (const { state, mend } of findings) assert.equal(mend === undefined, state === 'ok')
})

test('a template that is missing fails with how to make one, a daemon in trouble with its reasons', async () => {
  await using made = await makeDirectory()
  const reasons = ['libvirt does not answer: see that libvirtd runs']
  await using daemon = await startDaemon((asked, reply) =>
    answer(reply, 200, asked.includes('templates') ? [] : { status: 'degraded', reasons }),
  )
  const world = { api: localClient(daemon.url), path: '' }
  const findings = await examine(world, placesIn(made.directory))
  const found = findings.find(({ check }) => check === 'template default')
  assert.equal(found?.state, 'fail')
  assert.match(found?.mend ?? '', /skerry template import/)
  assert.equal(findings.find(({ check }) => check === 'vmd')?.mend, reasons[0])
})

test('doctor ends with 1 when something fails, also in JSON', async () => {
  const { code, out } = await skerry('http://127.0.0.1:9', ['doctor', '--json'])
  assert.equal(code, 1)
  const findings = JSON.parse(out) as Finding[]
  assert.equal(states(findings)['vmd'], 'fail')
  const text = await skerry('http://127.0.0.1:9', ['doctor'])
  assert.equal(text.code, 1)
  assert.match(text.out, /^STATE +POINT +FOUND\n/)
  assert.match(text.out, /^mend vmd: sudo skerry vmd$/m)
})
