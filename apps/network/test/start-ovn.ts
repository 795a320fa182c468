// OVN's databases and northd, without hosts, for a cloud of a test; and what ovn-trace says of packets in it.
import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ovnFiles } from '@skerry/site'

import { startIssuer } from '../../../tools/lab/src/network/certificates.ts'
import { runTool } from '../src/engines/child.ts'
import { startEngines } from '../src/engines/engines.ts'
import { waitUntilCompiled } from '../src/ovn/compile.ts'
import { takeFence } from '../src/ovn/fence.ts'
import { followNorthbound } from '../src/ovn/follow-northbound.ts'
import { writeUnits } from '../src/ovn/write-units.ts'
import { northboundOf } from '../src/projection/northbound.ts'
import type { ProjectedCloud } from '../src/projection/projected-cloud.ts'

const TOKEN = '1'
const COMPILE_MS = 60_000

export interface StartedOvn extends AsyncDisposable {
  /** A directory for files of the test. */
  readonly directory: string
  /** The socket of the southbound database. */
  readonly southbound: string
  /** Makes it the projection of this cloud. */
  project(cloud: ProjectedCloud): Promise<void>
  /** The last two words are a switch or router, and the packet. Returns what ovn-trace prints. */
  trace(...words: readonly string[]): Promise<string>
}

export async function startOvn(): Promise<StartedOvn> {
  await using started = new AsyncDisposableStack()
  const directory = started.use(await mkdtempDisposable(join(tmpdir(), 'ovn-')))
  const issuer = started.use(await startIssuer('overlay'))
  const { key, cert } = await issuer.issue()
  const at = (name: string) => join(directory.path, name)
  const tls = { key: at('key'), certificate: at('certificate'), ca: at('ca') }
  await writeFile(tls.key, key)
  await writeFile(tls.certificate, cert)
  await writeFile(tls.ca, issuer.cert)
  const place = { directory: at('1'), tls }
  const southbound = ovnFiles(place.directory).southboundSocket
  const engines = started.use(
    await startEngines({ place, log: () => undefined, pause: (ms) => sleep(ms) }),
  )
  await takeFence(engines.northbound, TOKEN)
  await engines.startNorthd()
  const all = started.move()
  return {
    directory: directory.path,
    southbound,
    async project(cloud) {
      const copy = await followNorthbound(engines.northbound)
      const units = northboundOf(cloud).map((each) => {
        if ('fault' in each) throw each.fault
        return each
      })
      const writer = { database: engines.northbound, copy, token: TOKEN }
      const { refused } = await writeUnits(writer, units)
      assert.deepEqual([...refused], [])
      await waitUntilCompiled(engines.northbound, TOKEN, AbortSignal.timeout(COMPILE_MS))
    },
    trace: (...words) => runTool(['/usr/bin/ovn-trace', `--db=unix:${southbound}`, ...words]),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
