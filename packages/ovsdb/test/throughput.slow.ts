// Goal: the network of a cloud can change as fast as its API. Method: fenced changes, one after the other and overlapping, on a file.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Ovsdb, type OvsdbOperation } from '../src/index.ts'
import { needsOvsdbServer, startOvsdbServer } from './start-ovsdb-server.ts'

const COUNT = 500
const ROUNDS = 4
const LEAST_PER_SECOND = 500

test(
  '500 transactions a second are written to a file, also one after the other',
  { skip: needsOvsdbServer },
  async (t) => {
    await using server = await startOvsdbServer()
    await using ovsdb = await Ovsdb.open({ path: server.path })
    await ovsdb.transact('Test', [{ op: 'insert', table: 'Host', row: { name: 'writer' } }])
    const where = [['name', '==', 'writer']] as const
    const change: OvsdbOperation[] = [
      {
        op: 'wait',
        table: 'Host',
        where,
        columns: ['name'],
        until: '==',
        rows: [{ name: 'writer' }],
        timeout: 0,
      },
      { op: 'mutate', table: 'Host', where, mutations: [['count', '+=', 1]] },
    ]
    /** Of the best round: a burst of other work on the machine slows single ones. */
    const rate = async (work: () => Promise<unknown>) => {
      let best = 0
      for (let round = 0; round < ROUNDS; round += 1) {
        const began = performance.now()
        await work()
        best = Math.max(best, Math.round(COUNT / ((performance.now() - began) / 1_000)))
      }
      return best
    }
    const inOrder = await rate(async () => {
      for (let done = 0; done < COUNT; done += 1) await ovsdb.transact('Test', change)
    })
    const overlapping = await rate(() =>
      Promise.all(Array.from({ length: COUNT }, () => ovsdb.transact('Test', change))),
    )
    t.diagnostic(`${inOrder} a second in order, ${overlapping} overlapping`)
    const rows = await ovsdb.select('Test', 'Host', ['count'])
    assert.deepEqual(rows, [{ count: 2 * ROUNDS * COUNT }])
    assert.ok(inOrder >= LEAST_PER_SECOND, `${inOrder} a second, one after the other`)
    assert.ok(overlapping >= LEAST_PER_SECOND, `${overlapping} a second, overlapping`)
  },
)
