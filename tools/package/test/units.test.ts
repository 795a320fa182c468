// Goal: systemd accepts our units. Method: its own verifier, with a dummy program at each path that a unit names.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { attempt } from '../../lab/src/system/run.ts'

const UNITS = join(import.meta.dirname, '../units')
const needs = existsSync('/usr/bin/systemd-analyze') ? false : 'needs systemd: apt install systemd'
const unit = (name: string) => readFile(join(UNITS, name), 'utf8')

test('systemd reports no problems in our units', { skip: needs }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'units-'))
  try {
    const names = await readdir(UNITS)
    const kinds = ['cell', 'console', 'egress', 'guests', 'network', 'vmd', 'workflow']
    assert.deepEqual(
      names.sort(),
      kinds.map((kind) => `skerry-${kind}.service`),
    )
    const files = names.map((name) => join(directory, name))
    for (const [at, name] of names.entries()) {
      // The package with these programs is not installed where tests run.
      const text = (await unit(name)).replace(
        /^(Exec\w+=\+?)\/usr\/lib\/skerry\/\S+/gm,
        '$1/bin/true',
      )
      await writeFile(files[at] ?? '', text)
    }
    const judge = ['systemd-analyze', 'verify', '--man=no', '--recursive-errors=no']
    assert.deepEqual(await attempt([...judge, ...files]), { stdout: '', stderr: '', code: 0 })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

/** The maximum exposure score of systemd, of 10. vmd mounts, changes firewall rules and starts virtiofsd, as root. */
const exposures = {
  cell: 2,
  console: 2,
  egress: 2,
  guests: 3,
  network: 2,
  vmd: 7,
  workflow: 2,
} as const

for (const [kind, most] of Object.entries(exposures)) {
  test(`the exposure score of skerry-${kind} is at most ${most}`, { skip: needs }, async () => {
    const file = join(UNITS, `skerry-${kind}.service`)
    const judge = ['systemd-analyze', 'security', '--offline=true', '--no-pager']
    const { code, stdout } = await attempt([...judge, `--threshold=${most * 10}`, file])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /Overall exposure level for skerry-/)
  })
}

test('every server but vmd runs as a user that the package creates', async () => {
  const scripts = await readFile(join(UNITS, '../debian/postinst'), 'utf8')
  const [, made = ''] = /^for user in (.*); do$/m.exec(scripts) ?? []
  const users = ['cell', 'console', 'workflow', 'egress', 'network'].map((kind) => `skerry-${kind}`)
  assert.deepEqual(made.split(' '), users)
  for (const user of users) {
    const text = await unit(`${user}.service`)
    assert.match(text, new RegExp(`^User=${user}$`, 'm'))
    // Its files get the right owner before it starts.
    assert.match(
      text,
      new RegExp(`^ExecStartPre=\\+.*/hand-over/main\\.ts ${user} \\$\\{CONFIG\\}$`, 'm'),
    )
    // The journal bounds its size; an appended log file does not.
    assert.doesNotMatch(text, /^Standard(Output|Error)=/m)
  }
})

test('a restart of vmd or libvirtd restarts no other unit', async () => {
  // A unit that requires, binds to or is part of another one is stopped and restarted with it.
  const ties = /^(?:Requires|Requisite|BindsTo|PartOf|Upholds)=(.*)$/gm
  const tied = async (name: string) => [...(await unit(name)).matchAll(ties)].map(([, to]) => to)
  assert.deepEqual(await tied('skerry-vmd.service'), [])
  for (const name of ['cell', 'console', 'egress', 'network', 'workflow']) {
    assert.deepEqual(await tied(`skerry-${name}.service`), [])
  }
  assert.deepEqual(await tied('skerry-guests.service'), ['virt-guest-shutdown.target'])
})

test('at shutdown, guests are stopped before everything that they need', async () => {
  const [, after = ''] = /^After=(.*)$/m.exec(await unit('skerry-guests.service')) ?? []
  // systemd stops units in the reverse order of their start.
  const needed = ['skerry-vmd.service', 'libvirtd.service', 'libvirt-guests.service']
  assert.deepEqual(
    [...needed, 'virt-guest-shutdown.target'].filter((each) => !after.split(' ').includes(each)),
    [],
  )
})
