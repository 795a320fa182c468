// Goal: databases that cannot be used are made again, others keep what they hold, and at night their files lose their history. Method: OVN's own programs in a directory with
// files that the test has damaged.
import assert from 'node:assert/strict'
import { mkdtempDisposable, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import type { OvsdbOperation } from '@skerry/ovsdb'
import { ovnFiles, ovnPrograms, ovnSchemas, type OvnPlace } from '@skerry/site'

import { needsOvsdbServer } from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { startIssuer } from '../../../tools/lab/src/network/certificates.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { runTool } from '../src/engines/child.ts'
import { startEngines } from '../src/engines/engines.ts'
import { nightAfter } from '../src/zone/night.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)

/** Files of certificates, and the directory of the databases. */
async function placeIn(directory: string): Promise<OvnPlace> {
  await using issuer = await startIssuer('overlay')
  const { key, cert } = await issuer.issue()
  const at = (name: string) => join(directory, name)
  const tls = { key: at('key'), certificate: at('certificate'), ca: at('ca') }
  await writeFile(tls.key, key)
  await writeFile(tls.certificate, cert)
  await writeFile(tls.ca, issuer.cert)
  return { directory: at('1'), tls }
}

test('a compacted database has the same rows in a smaller file', { skip }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'engines-'))
  const place = await placeIn(directory.path)
  await using engines = await startEngines({
    place,
    log: () => undefined,
    pause: (ms) => sleep(ms),
  })
  const write = (op: OvsdbOperation) => engines.northbound.transact('OVN_Northbound', [op])
  await write({ op: 'insert', table: 'NB_Global', row: {} })
  for (let round = 0; round < 100; round += 1) {
    const name = String(round).repeat(100)
    await write({ op: 'update', table: 'NB_Global', where: [], row: { name } })
  }
  const read = () => engines.northbound.select('OVN_Northbound', 'NB_Global', ['name'])
  const size = async () => (await stat(ovnFiles(place.directory).northbound)).size
  const [rows, before] = [await read(), await size()]
  await engines.compact()
  assert.deepEqual(await read(), rows)
  assert.ok((await size()) < before - 10_000)
})

test('night comes once a day', () => {
  const evening = new Date(2026, 10, 18, 22, 30)
  const night = nightAfter(evening)
  assert.deepEqual([night.getDate(), night.getHours()], [19, 3])
  assert.deepEqual(nightAfter(night).getDate(), 20)
  assert.deepEqual(nightAfter(new Date(2026, 10, 18, 2)).getDate(), 18)
})

test('a database that is damaged or of another version is made again', { skip }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'engines-'))
  const place = await placeIn(directory.path)
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
