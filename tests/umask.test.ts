// Goal: files that a server creates without an explicit mode are closed to other users. Method: the umask in the source of every
// server program, set by itself or by runProgram.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const programs = [
  ...['vmd', 'cloud', 'console', 'workflow', 'egress', 'network'].map(
    (app) => `apps/${app}/src/main.ts`,
  ),
  'apps/cloud/src/admin/main.ts',
  'apps/cli/src/commands/machine/up.ts',
]

for (const program of programs) {
  test(`${program} takes every permission of other users from what it writes`, async () => {
    const text = await readFile(join(root, program), 'utf8')
    if (/^await runProgram\($/m.test(text)) {
      // 0117 is the egress's: its one file is a socket for the group of the workflow server.
      for (const [, own] of text.matchAll(/\bumask\b(.*)/g)) assert.equal(own, ': 0o117,')
    } else assert.match(text, /^ *process\.umask\(0o077\)$/m)
  })
}

test('so does runProgram, before anything else', async () => {
  const text = await readFile(join(root, 'packages/service/src/process/run-program.ts'), 'utf8')
  assert.match(
    text,
    /function runProgram\([^{]*\{\n  process\.umask\(program\.umask \?\? 0o077\)\n/,
  )
})

test('so does the unit of vmd, for the programs that it starts', async () => {
  const unit = await readFile(join(root, 'tools/package/units/skerry-vmd.service'), 'utf8')
  assert.match(unit, /^UMask=0077$/m)
})
