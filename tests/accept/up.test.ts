// Goal: the lines of docs/guides/one-machine.md create a cloud on one machine, a VM in it and its screen, and remove all of it
// again. Method: its `sh` blocks unmodified, in one shell that ends at the first failing line, on a lab machine with real
// backends. Three differences from a user's run: sudo is not used, the image is a small one, and there are checks between the
// blocks.
import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { guestImage, reasonToSkip, reasonWithoutTemporal, startHost } from '@skerry/lab'

import { blocksIn } from './doc-blocks.ts'
import { onMachine, ROOT, serversOf } from './up/machine.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
// Then the site has a network server.
const hasOvn = reasonToSkip('network') === undefined
const DOCUMENT = 'docs/guides/one-machine.md'

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
    // The banner behind the address of the screen, and the processes before and after the cloud is stopped.
    const looks = `ca=$(value ca)
    ps -axww -o user:32=,args= | sed -n 's|^\\([^ ]*\\) .*/apps/\\([a-z]*\\)/src/main.ts.*|\\2 runs as \\1|p'
    node ${join(import.meta.dirname, 'up/greeting.ts')} "$(skerry console first --json | jq -r .address)" "$ca"
    curl -sS --cacert "$ca" -o /dev/null -w 'page %{http_code}\\n' "$(value console)"
    curl -sS --cacert "$ca" -u "$(value user):$(value password)" -o /dev/null -w 'workflows %{http_code}\\n' "$(value workflow)/api/workflows"`
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
      /^password +\S+ +\(shown only once; root finds it in \S+passwords\.json\)$/m,
    )
    assert.match(stdout, /^https:\/\/127\.0\.0\.2:\d+\/console\?mks%3A%2F%2F127\.0\.0\.2/m)
    assert.match(stdout, /^RFB 003\.00\d$/m)
    assert.match(stdout, /^page 200$/m)
    // The clone may be readable by root only: then they run as root, and print that.
    if (!stderr.includes('runs as root')) {
      const runs = stdout.match(/^\w+ runs as \S+$/gm) ?? []
      assert.deepEqual(
        runs.toSorted(),
        [
          'cloud runs as skerry-cell',
          'console runs as skerry-console',
          'egress runs as skerry-egress',
          ...(hasOvn ? ['network runs as skerry-network'] : []),
          'vmd runs as root',
          'workflow runs as skerry-workflow',
          'workflow runs as skerry-workflow',
        ].toSorted(),
      )
    }
    assert.match(stdout, /^workflows 200$/m)
    assert.match(stdout, /^stopped: vmd, .*, the cloud, Temporal, PostgreSQL$/m)
    assert.deepEqual(await serversOf(host), [])
    assert.equal((await host.run(['ls', '/var/lib/skerry/site'])).code, 2)
    assert.equal((await host.run(['ls', '/var/lib/skerry/cloud'])).code, 2)
  },
)
