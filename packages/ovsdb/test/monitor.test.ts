// Goal: a monitor starts with all rows and misses no later change. Method: a real ovsdb-server, changes by a second connection.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ConnectionLost, Ovsdb, Refused, uuidOf, type OvsdbOperation } from '../src/index.ts'
import { needsOvsdbServer, startOvsdbServer } from './start-ovsdb-server.ts'

const skip = needsOvsdbServer
const insert = (name: string): OvsdbOperation => ({ op: 'insert', table: 'Host', row: { name } })

test(
  'a monitor returns the rows, then reports insertions, modifications and deletions',
  { skip },
  async () => {
    await using server = await startOvsdbServer()
    await using ovsdb = await Ovsdb.open({ path: server.path })
    await using other = await Ovsdb.open({ path: server.path })
    const [first] = await other.transact('Test', [insert('first')])
    const received: unknown[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const rows = await ovsdb.monitor('Test', { Host: ['name', 'count'], Port: [] }, (changes) => {
      received.push(...(changes.get('Host')?.values() ?? []))
      if (received.length === 3) resolve()
    })
    const id = uuidOf(first?.uuid)
    assert.deepEqual([...(rows.get('Host') ?? [])], [[id, { name: 'first', count: 0 }]])

    await other.transact('Test', [insert('second')])
    const where = [['name', '==', 'first']] as const
    await other.transact('Test', [{ op: 'update', table: 'Host', where, row: { count: 7 } }])
    await other.transact('Test', [{ op: 'delete', table: 'Host', where }])
    await promise
    assert.deepEqual(received, [
      { new: { name: 'second', count: 0 } },
      { old: { count: 0 }, new: { name: 'first', count: 7 } },
      { old: { name: 'first', count: 7 } },
    ])
  },
)

test(
  'no change is missed, and none arrives before its rows, while others write',
  { skip },
  async () => {
    await using server = await startOvsdbServer()
    await using ovsdb = await Ovsdb.open({ path: server.path })
    await using other = await Ovsdb.open({ path: server.path })
    const writes = Array.from({ length: 300 }, (_, index) =>
      other.transact('Test', [insert(`host-${index}`)]),
    )
    await writes[20]
    const names = new Set<unknown>()
    const { promise, resolve } = Promise.withResolvers<void>()
    let hasRows = false
    const rows = await ovsdb.monitor('Test', { Host: ['name'] }, (changes) => {
      assert.ok(hasRows)
      for (const { new: row } of changes.get('Host')?.values() ?? []) names.add(row?.['name'])
      if (names.size === 300) resolve()
    })
    hasRows = true
    for (const row of rows.get('Host')?.values() ?? []) names.add(row['name'])
    await Promise.all(writes)
    if (names.size < 300) await promise
    assert.equal(names.size, 300)
  },
)

test(
  'a monitor of an unknown table is refused, and the connection stays open',
  { skip },
  async () => {
    await using server = await startOvsdbServer()
    await using ovsdb = await Ovsdb.open({ path: server.path })
    await assert.rejects(
      ovsdb.monitor('Test', { Missing: [] }, () => {}),
      Refused,
    )
    assert.deepEqual(await ovsdb.select('Test', 'Host', ['name']), [])
  },
)

test(
  'an exception of the caller in a change ends the connection and is its reason',
  { skip },
  async () => {
    await using server = await startOvsdbServer()
    await using ovsdb = await Ovsdb.open({ path: server.path })
    await ovsdb.monitor('Test', { Host: ['name'] }, () => {
      throw new Error('of the caller')
    })
    await ovsdb.transact('Test', [insert('a')]).catch((error: unknown) => {
      assert.ok(error instanceof ConnectionLost)
    })
    const reason = await ovsdb.closed
    assert.ok(reason instanceof ConnectionLost)
    assert.match(String(reason.cause), /of the caller/)
  },
)
