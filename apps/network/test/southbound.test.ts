// Goal: the rows of hosts in the southbound database are those of the zone's hosts, whatever was there. Method: a real ovsdb-server with
// OVN's schema.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'

import { Ovsdb } from '@skerry/ovsdb'
import { ovnFiles, ovnHostsRemote, ovnPrograms, ovnSchemas } from '@skerry/site'

import {
  needsOvsdbServer,
  startOvsdbServer,
} from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { startIssuer } from '../../../tools/lab/src/network/certificates.ts'
import { freePorts } from '../../../tools/lab/src/network/ports.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { until } from '../../../tools/lab/src/system/wait.ts'
import { runTool } from '../src/engines/child.ts'
import { startEngines } from '../src/engines/engines.ts'
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
    await database.transact(SOUTHBOUND, [
      {
        op: 'update',
        table: 'Chassis',
        where: [['name', '==', 'c']],
        row: { hostname: 'its own' },
      },
    ])
    assert.deepEqual(await prefillHosts(database, [b, a, c]), [b], 'what is known stays')
    assert.deepEqual(await namesIn('Chassis', 'hostname'), ['a', 'c'])
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

test(
  'connections of hosts end when they are dropped, and hosts can connect again',
  { skip },
  async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'southbound-'))
    await using issuer = await startIssuer('overlay')
    const { key, cert } = await issuer.issue()
    const at = (name: string) => join(directory.path, name)
    const tls = { key: at('key'), certificate: at('certificate'), ca: at('ca') }
    await writeFile(tls.key, key)
    await writeFile(tls.certificate, cert)
    await writeFile(tls.ca, issuer.cert)
    const pause = (ms: number) => sleep(ms)
    const place = { directory: at('1'), tls }
    await using engines = await startEngines({ place, log: () => undefined, pause })
    await engines.southbound.transact('OVN_Southbound', [
      { op: 'insert', table: 'SB_Global', row: {} },
    ])
    const port = await freePorts(1)
    await engines.open({ address: '127.0.0.1', port })
    const connected = async () => {
      const socket = connect({ host: '127.0.0.1', port, key, cert, rejectUnauthorized: false })
      const { promise, resolve } = Promise.withResolvers<boolean>()
      socket.once('secureConnect', () => resolve(true)).once('close', () => resolve(false))
      socket.on('error', () => undefined).resume()
      return (await promise) ? socket : undefined
    }
    const drop = async () => {
      const socket = await until('a host is connected', connected)
      const closed = once(socket, 'close')
      await engines.dropHosts()
      await closed
    }
    await drop()
    await drop()
    // An attempt that failed in the middle left the port closed.
    const control = ['-t', ovnFiles(place.directory).southboundControl]
    await runTool([ovnPrograms.control, ...control, 'ovsdb-server/remove-remote', ovnHostsRemote])
    await engines.dropHosts()
    await drop()
  },
)
