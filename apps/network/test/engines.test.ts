// Goal: databases that cannot be used are made again, and others keep what they hold. Method: OVN's own programs in a directory with
// files that the test has damaged.
import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { ovnFiles, ovnPrograms, ovnSchemas } from '@skerry/site'

import { needsOvsdbServer } from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { startIssuer } from '../../../tools/lab/src/network/certificates.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { runTool } from '../src/engines/child.ts'
import { startEngines } from '../src/engines/engines.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)

test('a database that is damaged or of another version is made again', { skip }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'engines-'))
  await using issuer = await startIssuer('overlay')
  const { key, cert } = await issuer.issue()
  const at = (name: string) => join(directory.path, name)
  const tls = { key: at('key'), certificate: at('certificate'), ca: at('ca') }
  await writeFile(tls.key, key)
  await writeFile(tls.certificate, cert)
  await writeFile(tls.ca, issuer.cert)
  const place = { directory: at('1'), tls }
  const files = ovnFiles(place.directory)
  const logged: string[] = []
  /** How many rows there are from before; then there is one. */
  const start = async () => {
    const log = (message: string) => logged.push(message)
    await using engines = await startEngines({ place, log, pause: (ms) => sleep(ms) })
    const before = await engines.northbound.select('OVN_Northbound', 'NB_Global', ['nb_cfg'])
    if (before.length === 0) {
      const insert = { op: 'insert', table: 'NB_Global', row: {} } as const
      await engines.northbound.transact('OVN_Northbound', [insert])
    }
    return before.length
  }
  assert.deepEqual([await start(), await start()], [0, 1])
  assert.deepEqual(logged, [])
  await writeFile(files.southbound, 'no database')
  assert.deepEqual([await start(), await start()], [0, 1])
  assert.match(logged.join('\n'), /southbound one is damaged/)
  await using other = await mkdtempDisposable(join(tmpdir(), 'engines-'))
  const older = join(other.path, 'db')
  await runTool([ovnPrograms.databaseTool, 'create', older, ovnSchemas.southbound])
  await runTool(['/bin/cp', older, files.northbound])
  assert.deepEqual([await start(), await start()], [0, 1])
  assert.match(logged.join('\n'), /northbound one is of another version/)
})
