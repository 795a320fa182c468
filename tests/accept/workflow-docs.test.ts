// Goal: the lines of docs/guides/workflow.md work as described: workflows are imported, exported, run, answered and scheduled.
// Method: its `sh` blocks unmodified, in order, in one shell that ends at the first failing line. Two differences from a user's
// run: the lab has its own directory, and sudo is not used.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonToSkip, reasonWithoutTemporal } from '@skerry/lab'

import { blocksIn } from './doc-blocks.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const ROOT = join(import.meta.dirname, '../..')
const DOCUMENT = 'docs/guides/workflow.md'
const LIMIT_MS = 900_000
const run = promisify(execFile)

test('every line of docs/guides/workflow.md works as described', { skip }, async (t) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'flows-'))
  const lab = join(directory.path, 'lab')
  const text = await readFile(join(ROOT, DOCUMENT), 'utf8')
  const blocks = blocksIn(text)
  assert.ok(blocks.length >= 10)
  const here = (line: string) => line.replaceAll('sudo ', '').replaceAll('/tmp/lab', lab)
  // The lab is removed even if a line fails; if all succeeded, it is already gone.
  const down = here('npm run -s lab -- down --dir /tmp/lab')
  const lines = ['set -euo pipefail', `trap '${down} >&2' EXIT`, ...blocks.map(here)]
  const env = { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}` }
  const began = performance.now()
  // A failing line rejects this, with all output.
  const options = { cwd: ROOT, env, timeout: LIMIT_MS }
  const { stdout } = await run('bash', ['-c', lines.join('\n')], options)
  t.diagnostic(`${blocks.length} blocks in ${Math.round((performance.now() - began) / 1000)} s`)
  // The list of a client, the end of a run, and a removed lab.
  assert.match(stdout, /Rolling restart of a vApp/)
  assert.match(stdout, /"state": "completed"/)
  assert.match(stdout, /"hosts": \[\]/)
})
