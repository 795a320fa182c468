// Goal: systemd takes our units as they are. Method: its own judge, with a program where the unit says there is one.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { attempt } from '../../lab/src/run.ts'

const UNITS = join(import.meta.dirname, '../units')
const needs = existsSync('/usr/bin/systemd-analyze') ? false : 'needs systemd: apt install systemd'
const unit = (name: string) => readFile(join(UNITS, name), 'utf8')

test('systemd finds nothing to say against our units', { skip: needs }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'units-'))
  try {
    const names = await readdir(UNITS)
    const kinds = ['cell', 'console', 'egress', 'guests', 'vmd', 'workflow']
    assert.deepEqual(
      names.sort(),
      kinds.map((kind) => `skerry-${kind}.service`),
    )
    const files = names.map((name) => join(directory, name))
    for (const [at, name] of names.entries()) {
      // The package that brings these programs is not installed where tests run.
      const text = (await unit(name)).replace(/^(Exec\w+=)\/usr\/lib\/skerry\/\S+/gm, '$1/bin/true')
      await writeFile(files[at] ?? '', text)
    }
    const judge = ['systemd-analyze', 'verify', '--man=no', '--recursive-errors=no']
    assert.deepEqual(await attempt([...judge, ...files]), { stdout: '', stderr: '', code: 0 })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('a restart of vmd or of libvirtd is nobody else’s', async () => {
  // What requires, binds to or is part of another unit is stopped and restarted with it.
  const ties = /^(?:Requires|Requisite|BindsTo|PartOf|Upholds)=(.*)$/gm
  const tied = async (name: string) => [...(await unit(name)).matchAll(ties)].map(([, to]) => to)
  assert.deepEqual(await tied('skerry-vmd.service'), [])
  for (const name of ['cell', 'console', 'egress', 'workflow']) {
    assert.deepEqual(await tied(`skerry-${name}.service`), [])
  }
  assert.deepEqual(await tied('skerry-guests.service'), ['virt-guest-shutdown.target'])
})

test('when the machine goes down, guests are stopped before all that they need', async () => {
  const [, after = ''] = /^After=(.*)$/m.exec(await unit('skerry-guests.service')) ?? []
  // systemd stops in the reverse of the order in which it starts.
  const needed = ['skerry-vmd.service', 'libvirtd.service', 'libvirt-guests.service']
  assert.deepEqual(
    [...needed, 'virt-guest-shutdown.target'].filter((each) => !after.split(' ').includes(each)),
    [],
  )
})
