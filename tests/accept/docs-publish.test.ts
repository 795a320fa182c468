// Goal: the lines of docs/tutorials/publish.md lead from nothing to a web server that a client outside of the cloud reads, and back.
// Method: its `sh` blocks unmodified, in order, in one shell that ends at the first failing line. Differences from a user's run: the lab, the
// key and the profiles have a directory of their own, and sudo is not used.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonToSkip, reasonWithoutTemporal } from '@skerry/lab'

import { blocksIn } from './doc-blocks.ts'

const skip =
  reasonToSkip('host', 'network', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const ROOT = join(import.meta.dirname, '../..')
const DOCUMENT = 'docs/tutorials/publish.md'
/** Generous: the guest is emulated. */
const LIMIT_MS = 1_200_000
const run = promisify(execFile)

test('the lines of the tutorial publish a web server, and end it', { skip }, async (t) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'pub-'))
  const { path } = directory
  const blocks = blocksIn(await readFile(join(ROOT, DOCUMENT), 'utf8'))
  assert.ok(blocks.length >= 8)
  const here = (line: string) =>
    line.replaceAll('sudo ', '').replaceAll('/tmp/lab', join(path, 'l'))
  // The lab is removed even if a line fails; if all succeeded, it is already gone.
  const down = here('npm run -s lab -- down --dir /tmp/lab')
  const lines = ['set -euo pipefail', `trap '${down} >&2' EXIT`, ...blocks.map(here)]
  const began = performance.now()
  const env = { ...process.env, XDG_CONFIG_HOME: join(path, 'config') }
  // A failing line rejects this, with all output.
  const { stdout } = await run('bash', ['-c', lines.join('\n')], {
    cwd: ROOT,
    timeout: LIMIT_MS,
    env,
  })
  t.diagnostic(`${blocks.length} blocks in ${Math.round((performance.now() - began) / 1000)} s`)
  assert.match(stdout, /^port 22 of web is published: 198\.51\.100\.\d+, tcp port 2022$/m)
  assert.match(stdout, /^port 8080 of web is published: http:\/\/198\.51\.100\.\d+$/m)
  assert.match(stdout, /^Hello from web$/m)
  assert.match(stdout, /^port 80 of web is not published any more$/m)
})
