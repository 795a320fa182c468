// Goal: systemd takes our units as they are. Method: its own judge, with a program where the unit says there is one.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const UNIT = join(import.meta.dirname, '../units/skerry-vmd.service')
const needs = existsSync('/usr/bin/systemd-analyze') ? false : 'needs systemd: apt install systemd'

test('systemd finds nothing to say against the unit of vmd', { skip: needs }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'units-'))
  try {
    // The package that brings /usr/bin/skerry is not installed where tests run.
    const file = join(directory, 'skerry-vmd.service')
    const text = await readFile(UNIT, 'utf8')
    assert.match(text, /^ExecStart=\/usr\/bin\/skerry vmd$/m)
    await writeFile(file, text.replace('/usr/bin/skerry', '/usr/bin/true'))
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', [
      'verify',
      '--man=no',
      '--recursive-errors=no',
      file,
    ])
    assert.equal(stdout + stderr, '')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
