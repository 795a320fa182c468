import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { map, namedUuid, Ovsdb } from '../src/index.ts'
import { needsOvsdbServer, startOvsdbServer } from './start-ovsdb-server.ts'

const SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema'

test('the example in the README runs unmodified', { skip: needsOvsdbServer }, async () => {
  const cwd = join(import.meta.dirname, '..')
  const readme = await readFile(join(cwd, 'README.md'), 'utf8')
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1]
  assert.ok(example !== undefined)
  await using server = await startOvsdbServer({ schema: SCHEMA })
  await using ovsdb = await Ovsdb.open({ path: server.path })
  const row = { name: 'br-test', external_ids: map({ made: 'by hand' }) }
  await ovsdb.transact('Open_vSwitch', [
    { op: 'insert', table: 'Bridge', row, 'uuid-name': 'bridge' },
    { op: 'insert', table: 'Open_vSwitch', row: { bridges: namedUuid('bridge') } },
  ])
  // A program given with -e has no file name, so its arguments start one position earlier.
  const program = example.replace('process.argv.slice(2)', 'process.argv.slice(1)')
  const args = ['--input-type=module-typescript', '-e', program, '--', server.path]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
  assert.deepEqual(stdout.trim().split('\n'), [
    "br-test { made: 'by hand' }",
    'operation 1 was refused: Parsing ovsdb operation 2 of 2 failed: No table named Missing.',
  ])
})
