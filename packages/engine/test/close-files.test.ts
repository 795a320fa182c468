// Goal: other users of the host can open no file of the engine, regardless of the version that wrote it and of the umask.
// Method: a directory as an earlier version left it, closed completely, twice, and by a process that is killed; and a host that
// writes with the widest and the narrowest umask.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync } from 'node:fs'
import { chmod, link, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

import { reasonWithoutRoot, until } from '@skerry/lab'

import { closeFiles, privateMode } from '../src/disk/close-files.ts'
import { cloneVm } from '../src/vm/clone.ts'
import { createVm } from '../src/vm/create.ts'
import { startEmulatedHost } from './emulated-host.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const skip = reasonWithoutRoot('host') ?? false
const umask = process.umask()
after(() => process.umask(umask))

const modeOf = async (file: string) => ((await stat(file)).mode & 0o7777).toString(8)

/** Files and directories with the modes of the previous version. */
const old: Readonly<Record<string, string>> = {
  'templates/default.qcow2': '644',
  'templates/default.json': '600',
  'vms/one.json': '600',
  'vms/one.vm/1/layer-1.qcow2': '644',
  'vms/one.vm/1/opened': '644',
  'vms/one.vm/1/seed.img': '600',
  'cloud/key.pem': '600',
  'cloud/images/0a.qcow2': '644',
  'cloud/vms/two.vm/7/layer-1.qcow2': '640',
  'journal/1': '600',
}
const directories: Readonly<Record<string, readonly [old: string, now: string]>> = {
  templates: ['711', '700'],
  vms: ['711', '711'],
  'vms/one.vm': ['711', '711'],
  'vms/one.vm/1': ['711', '711'],
  cloud: ['711', '711'],
  'cloud/images': ['711', '700'],
  'cloud/vms': ['711', '711'],
  'cloud/vms/two.vm': ['755', '711'],
  'cloud/vms/two.vm/7': ['711', '711'],
  journal: ['700', '700'],
}

async function writeOld(data: string): Promise<void> {
  for (const [file, mode] of Object.entries(old)) {
    await mkdir(dirname(join(data, file)), { recursive: true })
    await writeFile(join(data, file), 'secret')
    await chmod(join(data, file), Number.parseInt(mode, 8))
  }
  await link(join(data, 'templates/default.qcow2'), join(data, 'vms/one.vm/1/layer-0.qcow2'))
  for (const [directory, [mode]] of Object.entries(directories)) {
    await chmod(join(data, directory), Number.parseInt(mode, 8))
  }
}

test('files of an earlier version are closed once, and logged once', async () => {
  await using directory = await temporaryDirectory()
  const data = directory.at('data')
  await writeOld(data)
  await writeFile(directory.at('elsewhere'), 'not ours')
  await chmod(directory.at('elsewhere'), 0o644)
  await symlink(directory.at('elsewhere'), join(data, 'vms/link'))
  await mkdir(join(data, 'dhcp'))
  await writeFile(join(data, 'dhcp/entry'), 'for the DHCP server')
  await chmod(join(data, 'dhcp/entry'), 0o644)
  const notes: string[] = []
  const close = () => closeFiles({ data }, (log) => notes.push(log))
  // Five files, one of them under two names and changed once, and three directories.
  assert.equal(close(), 8)
  for (const file of [...Object.keys(old), 'vms/one.vm/1/layer-0.qcow2']) {
    assert.equal(await modeOf(join(data, file)), '600', file)
  }
  for (const [name, [, mode]] of Object.entries(directories)) {
    assert.equal(await modeOf(join(data, name)), mode, name)
  }
  assert.equal(await modeOf(directory.at('elsewhere')), '644', 'a link is not followed')
  assert.equal(
    await modeOf(join(data, 'dhcp/entry')),
    '644',
    'the DHCP server runs as another user',
  )
  assert.equal(close(), 0)
  assert.deepEqual(notes, [
    `8 files and directories below ${data} had the permissions of an earlier version; removed access for other users`,
  ])
})

test('a missing directory needs no work', async () => {
  await using directory = await temporaryDirectory()
  assert.equal(
    closeFiles({ data: directory.at('data') }, () => assert.fail('nothing must be logged')),
    0,
  )
})

test('after a crash the next start closes the rest', async (t) => {
  await using directory = await temporaryDirectory()
  const data = directory.at('data')
  const life = join(data, 'vms/one.vm/1')
  await mkdir(life, { recursive: true })
  const names = Array.from({ length: 2_000 }, (_, at) => `layer-${at}.qcow2`)
  for (const name of names) await writeFile(join(life, name), '')
  for (const name of names) await chmod(join(life, name), 0o644)
  const program = `${import.meta.dirname}/../src/disk/close-files.ts`
  const script = `import(${JSON.stringify(program)}).then(({ closeFiles }) => closeFiles({ data: ${JSON.stringify(data)} }, () => {}))`
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const first = join(life, (await readdir(life))[0] ?? '')
  await until('it has begun', () => (lstatSync(first).mode & 0o077) === 0, 60_000)
  child.kill('SIGKILL')
  await ended
  const left = closeFiles({ data }, () => undefined)
  t.diagnostic(`${left} of ${names.length} files were left open by the one that was killed`)
  for (const name of names) assert.equal(lstatSync(join(life, name)).mode & 0o777, 0o600)
  assert.equal(
    closeFiles({ data }, () => undefined),
    0,
  )
})

test('a file keeps its owner’s permissions, a directory above a disk can be traversed', () => {
  assert.equal(privateMode('vms/a.vm/1/layer-0.qcow2', false, 0o100640), 0o600)
  assert.equal(privateMode('vms/a.vm/1/layer-0.qcow2', false, 0o100444), 0o400)
  for (const way of ['vms', 'vms/a.vm', 'vms/a.vm/1', 'cloud', 'cloud/vms/a.vm/12']) {
    assert.equal(privateMode(way, true, 0o40755), 0o711, way)
  }
  for (const closed of ['templates', 'journal', 'cloud/images', 'cloud/orders', 'vms/a.vm/1/x']) {
    assert.equal(privateMode(closed, true, 0o40755), 0o700, closed)
  }
})

for (const mask of [0, 0o077]) {
  test(
    `with umask ${mask.toString(8)} the host writes nothing that others can open, and QEMU can reach its disks`,
    {
      skip,
    },
    async () => {
      process.umask(mask)
      await using emulated = await startEmulatedHost()
      const { host } = emulated
      await createVm(host, { id: 'one', seed: { userData: '#cloud-config\n{}\n' } })
      await cloneVm(host, { id: 'two', parent: 'one' })
      const { data, run } = host.paths
      for (const root of [data, run]) {
        for (const name of await readdir(root, { recursive: true })) {
          // The DHCP server runs as another user.
          if (/^(dhcp|networks)(\/|$)/.test(name)) continue
          const mode = await modeOf(join(root, name))
          assert.match(mode, /^(600|700|711)$/, name)
        }
      }
      for (const name of ['', 'vms', 'vms/one.vm', 'vms/one.vm/1', 'vms/two.vm/1', 'cloud']) {
        assert.equal(await modeOf(join(data, name)), '711', name)
      }
      assert.equal(await modeOf(join(data, 'dhcp')), '755')
      assert.equal(await modeOf(join(data, 'templates')), '700')
      assert.equal(await modeOf(run), '711')
    },
  )
}
