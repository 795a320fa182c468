// Goal: whoever follows docs/tasks/workflow.md gets what it says: workflows that are imported, exported, run, answered and scheduled.
// Method: its `sh` blocks as they stand there, in their order, in one shell that ends at the first line that fails. Two things are
// not as for a person: the lab has a directory of its own, and nobody needs sudo.
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
const DOCUMENT = 'docs/tasks/workflow.md'
const LIMIT_MS = 900_000
const run = promisify(execFile)

test('every line of docs/tasks/workflow.md does what it says', { skip }, async (t) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'flows-'))
  const lab = join(directory.path, 'lab')
  const text = await readFile(join(ROOT, DOCUMENT), 'utf8')
  const blocks = blocksIn(text)
  assert.ok(blocks.length >= 10)
  const here = (line: string) => line.replaceAll('sudo ', '').replaceAll('/tmp/lab', lab)
  // The lab goes even when a line in the middle fails; where all went well, it is gone already.
  const down = here('npm run -s lab -- down --dir /tmp/lab')
  const lines = ['set -euo pipefail', `trap '${down} >&2' EXIT`, ...blocks.map(here)]
  const env = { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}` }
  const began = performance.now()
  // A line that fails rejects this, with all that was said.
  const options = { cwd: ROOT, env, timeout: LIMIT_MS }
  const { stdout } = await run('bash', ['-c', lines.join('\n')], options)
  t.diagnostic(`${blocks.length} blocks in ${Math.round((performance.now() - began) / 1000)} s`)
  // The list of a client, the end of a run, and a lab that is gone.
  assert.match(stdout, /Rolling restart of a vApp/)
  assert.match(stdout, /"state": "completed"/)
  assert.match(stdout, /"hosts": \[\]/)
})
