import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { requireOnlyOne } from '../src/process/only-one.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('a second vmd is rejected while the first runs, and not after it died', async () => {
  await using dir = await temporaryDirectory()
  const file = join(dir.path, 'run', 'vmd.pid')
  const other = spawn('sleep', ['60'])
  await once(other, 'spawn')
  const pid = other.pid ?? 0
  try {
    await requireOnlyOne(file, pid)
    await assert.rejects(requireOnlyOne(file, process.pid), {
      kind: 'conflict',
      message: `vmd is already running as process ${pid}`,
    })
  } finally {
    other.kill('SIGKILL')
    await once(other, 'exit')
  }
  await requireOnlyOne(file, process.pid)
  assert.match(await readFile(file, 'utf8'), new RegExp(`^${process.pid} \\d+\n$`))
})

test('a reused pid, or an incomplete file, does not count as a running vmd', async () => {
  await using dir = await temporaryDirectory()
  const file = join(dir.path, 'vmd.pid')
  for (const left of [`${process.pid} 1\n`, '', `${process.pid}`]) {
    await writeFile(file, left)
    await requireOnlyOne(file, process.pid)
  }
})
