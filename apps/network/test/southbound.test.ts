// Goal: the rows of hosts in the southbound database are those of the zone's hosts, whatever was there. Method: a real ovsdb-server with
// OVN's schema.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Ovsdb } from '@skerry/ovsdb'
import { ovnSchemas } from '@skerry/site'

import {
  needsOvsdbServer,
  startOvsdbServer,
} from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { prefillHosts, removeStrangers } from '../src/ovn/prefill-southbound.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)
const SOUTHBOUND = 'OVN_Southbound'

const host = (id: string, tunnelAddress: string) => ({ id, name: `host ${id}`, tunnelAddress })

test(
  'of hosts with one tunnel address the first is written, and hosts that left are deleted with their address',
  { skip },
  async () => {
    await using server = await startOvsdbServer({ schema: ovnSchemas.southbound })
    await using database = await Ovsdb.open({ path: server.path })
    const namesIn = async (table: string, column: string) => {
      const rows = await database.select(SOUTHBOUND, table, [column])
      return rows.map((row) => String(row[column])).toSorted()
    }
    const [a, b, c] = [host('a', '192.0.2.1'), host('b', '192.0.2.1'), host('c', '192.0.2.3')]
    assert.deepEqual(await prefillHosts(database, [a, b, c]), [b])
    assert.deepEqual(await prefillHosts(database, [b, a, c]), [b], 'what is known stays')
    assert.deepEqual(await namesIn('Chassis', 'name'), ['a', 'c'])
    await database.transact(SOUTHBOUND, [
      { op: 'insert', table: 'Chassis_Private', row: { name: 'a' } },
      { op: 'insert', table: 'Chassis_Private', row: { name: 'c' } },
    ])
    const joined = async () => new Set(['b', 'c'])
    assert.deepEqual(await removeStrangers(database, joined), ['a'])
    assert.deepEqual(await removeStrangers(database, joined), [])
    assert.deepEqual(await namesIn('Chassis', 'name'), ['c'])
    assert.deepEqual(await namesIn('Chassis_Private', 'name'), ['c'])
    assert.deepEqual(await namesIn('Encap', 'ip'), ['192.0.2.3'])
    assert.deepEqual(await prefillHosts(database, [b, c]), [])
    assert.deepEqual(await namesIn('Chassis', 'name'), ['b', 'c'])
  },
)
