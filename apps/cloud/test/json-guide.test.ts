// Goal: the lines of docs/guides/json.md work. Method: its `sh` blocks unmodified, in order, in one shell that ends at the first failing
// line. Two differences from a user's run: the cloud is at a local port, and there are no hosts, so tasks stay queued.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { blocksIn } from '../../../tests/accept/doc-blocks.ts'
import { BASE, openTenantsApi } from './tenants-api.ts'

const PAGE = join(import.meta.dirname, '../../../docs/guides/json.md')
const run = promisify(execFile)

test('the lines of the guide log in, list, create, act and show an error', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'json-guide-'))
  await using api = await openTenantsApi()
  const cloud = `http://127.0.0.1:${api.port}`
  const lines = [
    'set -euo pipefail',
    `cloud=${cloud} login=alice@eng:secret`,
    // Documents have the public address.
    `curl() { command curl "\${@//${BASE.replaceAll('/', '\\/')}/$cloud}"; }`,
    ...blocksIn(await readFile(PAGE, 'utf8')),
  ]
  const { stdout } = await run('bash', ['-c', lines.join('\n')], { cwd: directory.path })
  const expected = [
    /^alice of eng$/m,
    /^debian\tUNRESOLVED$/m,
    /^Creating vApp \S+: (queued|running)$/m,
    /^down https:\S+\/metadata$/m,
    /^success$/m,
    /^\$ has no key "nmae"; its keys are: name, /m,
  ]
  for (const line of expected) assert.match(stdout, line)
})
