import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { needsLibvirtd, startLibvirtd } from './start-libvirtd.ts'

test('the example in the README runs unmodified', { skip: needsLibvirtd }, async () => {
  const cwd = join(import.meta.dirname, '..')
  const readme = await readFile(join(cwd, 'README.md'), 'utf8')
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1]
  assert.ok(example !== undefined)
  await using daemon = await startLibvirtd()
  const code = ['--input-type=module-typescript', '-e', example]
  const args = [...code, '--', daemon.socket, 'test:///default']
  // A program given with -e has no file name, so its arguments start one position earlier.
  const named = args.map((arg) => arg.replace('process.argv.slice(2)', 'process.argv.slice(1)'))
  const { stdout } = await promisify(execFile)(process.execPath, named, { cwd })
  assert.deepEqual(stdout.trim().split('\n'), ['test runs', 'missing does not exist'])
})
