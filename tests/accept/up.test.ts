// Goal: whoever follows docs/tasks/one-machine.md has a cloud on a machine, a VM in it, its screen, and is rid of all of it again.
// Method: its `sh` blocks as they stand there, in one shell that ends at the first line that fails, on a machine of the lab with real
// engines. Three things are not as for a person: nobody needs sudo, the image is a small one, and between the blocks it is looked at.
import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { guestImage, reasonToSkip, reasonWithoutTemporal, startHost } from '@skerry/lab'

import { blocksIn } from './doc-blocks.ts'
import { onMachine, ROOT, serversOf } from './up/machine.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const DOCUMENT = 'docs/tasks/one-machine.md'

test(
  'the lines of one machine lead from nothing to a screen of a VM and back',
  { skip },
  async (t) => {
    const text = await readFile(join(ROOT, DOCUMENT), 'utf8')
    const blocks = blocksIn(text)
    assert.ok(blocks.length >= 6)
    await using directory = await mkdtempDisposable(join(tmpdir(), 'up-'))
    await using host = await startHost({ dir: join(directory.path, 'host') })
    const machine = onMachine(host)
    const image = await guestImage('small')
    const here = (block: string) =>
      block.replaceAll('sudo ', '').replace(/^skerry up$/m, `skerry up --template ${image}`)
    // What a viewer sees first behind the address, and who runs before and after the cloud is stopped.
    const looks = `ca=$(told ca)
    node ${join(import.meta.dirname, 'up/greeting.ts')} "$(skerry console first --json | jq -r .address)" "$ca"
    curl -sS --cacert "$ca" -o /dev/null -w 'page %{http_code}\\n' "$(told console)"
    curl -sS --cacert "$ca" -u "$(told user):$(told password)" -o /dev/null -w 'workflows %{http_code}\\n' "$(told workflow)/api/workflows"`
    const before = blocks.findIndex((block) => block.includes('skerry stop'))
    const script = [
      'set -euo pipefail',
      `export XDG_CONFIG_HOME=${directory.path}`,
      ...blocks.slice(0, before).map(here),
      looks,
      ...blocks.slice(before).map(here),
    ]
    const began = performance.now()
    const { code, stdout, stderr } = await machine.shell(script.join('\n'))
    t.diagnostic(`${blocks.length} blocks in ${Math.round((performance.now() - began) / 1000)} s`)
    assert.equal(code, 0, `${stderr}\n${stdout}`)
    assert.match(stdout, /^log in as +owner@home$/m)
    assert.match(
      stdout,
      /^password +\S+ +\(shown only now; it is in \S+passwords\.json, for root\)$/m,
    )
    assert.match(stdout, /^https:\/\/127\.0\.0\.2:\d+\/console\?mks%3A%2F%2F127\.0\.0\.2/m)
    assert.match(stdout, /^RFB 003\.00\d$/m)
    assert.match(stdout, /^page 200$/m)
    assert.match(stdout, /^workflows 200$/m)
    assert.match(stdout, /^stopped: vmd, .*, the cloud, Temporal, PostgreSQL$/m)
    assert.deepEqual(await serversOf(host), [])
    assert.equal((await host.run(['ls', '/var/lib/skerry/site'])).code, 2)
    assert.equal((await host.run(['ls', '/var/lib/skerry/cloud'])).code, 2)
  },
)
