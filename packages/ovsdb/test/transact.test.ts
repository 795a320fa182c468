// Goal: a transaction is done completely or not at all, and a refusal names its operation. Method: a real ovsdb-server.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import {
  map,
  mapOf,
  namedUuid,
  Ovsdb,
  Refused,
  set,
  setOf,
  uuid,
  uuidOf,
  type OvsdbOperation,
} from '../src/index.ts'
import { needsOvsdbServer, startOvsdbServer, type OvsdbServer } from './start-ovsdb-server.ts'

const insert = (name: string): OvsdbOperation => ({ op: 'insert', table: 'Host', row: { name } })

describe('transactions', { skip: needsOvsdbServer }, () => {
  let server: OvsdbServer
  let ovsdb: Ovsdb
  before(async () => {
    server = await startOvsdbServer()
    ovsdb = await Ovsdb.open({ path: server.path })
  })
  after(async () => {
    await ovsdb.close()
    await server[Symbol.asyncDispose]()
  })
  const names = async () =>
    (await ovsdb.select('Test', 'Host', ['name'])).map((row) => String(row['name'])).sort()
  const refusal = async (operations: readonly OvsdbOperation[], database = 'Test') => {
    const error: unknown = await ovsdb.transact(database, operations).catch((each: unknown) => each)
    assert.ok(error instanceof Refused, String(error))
    return error
  }

  test('rows are inserted, selected, updated, mutated and deleted', async () => {
    const id = '018f3a1c-0000-4000-8000-00000000000a'
    const results = await ovsdb.transact('Test', [
      { op: 'insert', table: 'Port', row: { name: 'eth0' }, 'uuid-name': 'port' },
      {
        op: 'insert',
        table: 'Host',
        uuid: id,
        row: {
          name: 'whole',
          labels: set(['a', 'ä "quoted" \\ {']),
          options: map({ 'a-key': 'value' }),
          ports: namedUuid('port'),
        },
      },
    ])
    assert.equal(uuidOf(results[1]?.uuid), id)
    const where = [['_uuid', '==', uuid(id)]] as const
    const columns = ['name', 'count', 'labels', 'options', 'ports']
    const [row] = await ovsdb.select('Test', 'Host', columns, where)
    assert.equal(row?.['name'], 'whole')
    assert.equal(row['count'], 0)
    assert.deepEqual(new Set(setOf(row['labels'])), new Set(['a', 'ä "quoted" \\ {']))
    assert.deepEqual([...mapOf(row['options'])], [['a-key', 'value']])
    assert.deepEqual(setOf(row['ports']), [results[0]?.uuid])

    const changed = await ovsdb.transact('Test', [
      { op: 'update', table: 'Host', where, row: { labels: 'one' } },
      {
        op: 'mutate',
        table: 'Host',
        where,
        mutations: [
          ['count', '+=', 3],
          ['options', 'insert', map({ b: 'c' })],
          ['options', 'delete', set(['a-key'])],
        ],
      },
      { op: 'select', table: 'Host', where, columns: ['labels', 'count', 'options'] },
    ])
    assert.deepEqual(
      changed.map(({ count }) => count),
      [1, 1, undefined],
    )
    assert.deepEqual(changed[2]?.rows, [{ labels: 'one', count: 3, options: map({ b: 'c' }) }])
    assert.deepEqual(await ovsdb.transact('Test', [{ op: 'delete', table: 'Host', where }]), [
      { count: 1 },
    ])
    assert.deepEqual(await ovsdb.select('Test', 'Port', ['name']), [])
  })

  test('a refused operation is named by its index, and nothing of its transaction is done', async () => {
    const refused = await refusal([
      insert('before'),
      { op: 'insert', table: 'Host', row: { name: 'wrong', missing: 1 } },
      insert('behind'),
    ])
    assert.deepEqual([refused.at, refused.error], [1, 'unknown column'])
    assert.match(refused.details, /missing/)
    assert.deepEqual(await names(), [])
  })

  test('an impossible result is refused behind the last operation, and nothing is done', async () => {
    const refused = await refusal([insert('twin'), insert('other'), insert('twin')])
    assert.deepEqual([refused.at, refused.error], [3, 'constraint violation'])
    assert.deepEqual(await names(), [])
  })

  test('a request for an unknown database is refused as a whole', async () => {
    assert.equal((await refusal([insert('a')], 'Missing')).at, -1)
  })

  test('a check that does not hold refuses the whole transaction at once', async () => {
    const isFirst = (name: string): OvsdbOperation => ({
      op: 'wait',
      table: 'Host',
      where: [['name', '==', name]],
      columns: ['name'],
      until: '==',
      rows: [{ name }],
      timeout: 0,
    })
    const refused = await refusal([isFirst('writer'), insert('late')])
    assert.deepEqual([refused.at, refused.error], [0, 'timed out'])
    await ovsdb.transact('Test', [insert('writer')])
    await ovsdb.transact('Test', [isFirst('writer'), insert('in-time')])
    assert.deepEqual(await names(), ['in-time', 'writer'])
    await ovsdb.transact('Test', [{ op: 'delete', table: 'Host', where: [] }])
  })

  test('500 transactions in flight each get their own results', async () => {
    const counts = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const [, result] = await ovsdb.transact('Test', [
          insert(`host-${index}`),
          { op: 'select', table: 'Host', where: [['name', '==', `host-${index}`]] },
        ])
        return result?.rows?.[0]?.['name']
      }),
    )
    assert.deepEqual(
      counts,
      Array.from({ length: 500 }, (_, index) => `host-${index}`),
    )
    await ovsdb.transact('Test', [{ op: 'delete', table: 'Host', where: [] }])
  })
})
