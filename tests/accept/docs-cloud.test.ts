// Goal: whoever follows docs/tasks/first-cloud.md on one machine gets a cloud, a VM in it, and rid of both.
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
const DOCUMENT = 'docs/tasks/first-cloud.md'
const LIMIT_MS = 600_000
const run = promisify(execFile)

test('the lines of the first cloud lead from nothing to a VM and back', { skip }, async (t) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'first-'))
  const lab = join(directory.path, 'lab')
  const text = await readFile(join(ROOT, DOCUMENT), 'utf8')
  const blocks = blocksIn(text)
  assert.ok(blocks.length >= 8)
  const here = (line: string) => line.replaceAll('sudo ', '').replaceAll('/tmp/lab', lab)
  // The lab goes even when a line in the middle fails; where all went well, it is gone already.
  const down = here('npm run -s lab -- down --dir /tmp/lab')
  const lines = ['set -euo pipefail', `trap '${down} >&2' EXIT`, ...blocks.map(here)]
  const began = performance.now()
  // A line that fails rejects this, with all that was said.
  const { stdout } = await run('bash', ['-c', lines.join('\n')], { cwd: ROOT, timeout: LIMIT_MS })
  t.diagnostic(`${blocks.length} blocks in ${Math.round((performance.now() - began) / 1000)} s`)
  // What the middle of it shows: the record that was asked for, the links of a VM that runs, and the story of it.
  assert.match(stdout, /<VMRecord name="[^"]+" containerName="web" href="https:[^"]+"\/>/)
  assert.match(stdout, /rel="power:powerOff"/)
  assert.match(stdout, /^event: task\.success$/m)
})
