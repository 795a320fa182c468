// Goal: the lines of docs/tutorials/first-cloud.md create a cloud and a VM on one machine, and remove both. Method: its `sh` blocks
// unmodified, in order, in one shell that ends at the first failing line. Two differences from a user's run: the lab has its own
// directory, and sudo is not used.
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
const DOCUMENT = 'docs/tutorials/first-cloud.md'
const LIMIT_MS = 600_000
const run = promisify(execFile)

test('the lines of the first cloud lead from nothing to a VM and back', { skip }, async (t) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'first-'))
  const lab = join(directory.path, 'lab')
  const text = await readFile(join(ROOT, DOCUMENT), 'utf8')
  const blocks = blocksIn(text)
  assert.ok(blocks.length >= 8)
  const here = (line: string) => line.replaceAll('sudo ', '').replaceAll('/tmp/lab', lab)
  // The lab is removed even if a line fails; if all succeeded, it is already gone.
  const down = here('npm run -s lab -- down --dir /tmp/lab')
  const lines = ['set -euo pipefail', `trap '${down} >&2' EXIT`, ...blocks.map(here)]
  const began = performance.now()
  // A failing line rejects this, with all output.
  const { stdout } = await run('bash', ['-c', lines.join('\n')], { cwd: ROOT, timeout: LIMIT_MS })
  t.diagnostic(`${blocks.length} blocks in ${Math.round((performance.now() - began) / 1000)} s`)
  // Expected in between: the queried record, the links of a running VM, and its events.
  assert.match(stdout, /<VMRecord name="[^"]+" containerName="web" href="https:[^"]+"\/>/)
  assert.match(stdout, /rel="power:powerOff"/)
  assert.match(stdout, /^event: task\.success$/m)
})
