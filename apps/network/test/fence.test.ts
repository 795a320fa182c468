// Goal: once a newer network server has taken a database, no write of an older one gets into it. Method: two writers on a real
// ovsdb-server with OVN's schema, in every order of their steps.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { map, Ovsdb } from '@skerry/ovsdb'
import { ovnSchemas } from '@skerry/site'

import {
  needsOvsdbServer,
  startOvsdbServer,
  type OvsdbServer,
} from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { NORTHBOUND, takeFence, writeFenced } from '../src/ovn/fence.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)
const [OLDER, NEWER] = ['2199023255553', '2199023255560'] as const

let server: OvsdbServer
before(async () => {
  if (skip === false) server = await startOvsdbServer({ schema: ovnSchemas.northbound })
})
after(() => server?.[Symbol.asyncDispose]())

type Step = 'take' | 'write'
interface Act {
  readonly token: string
  readonly step: Step
}

/** Both lists in all orders that keep the order of each. */
function interleavings(one: readonly Act[], other: readonly Act[]): readonly (readonly Act[])[] {
  const [first, ...restOfOne] = one
  const [second, ...restOfOther] = other
  if (!first) return [other]
  if (!second) return [one]
  return [
    ...interleavings(restOfOne, other).map((rest) => [first, ...rest]),
    ...interleavings(one, restOfOther).map((rest) => [second, ...rest]),
  ]
}

const isStale = (error: unknown): boolean => (error as { kind?: string }).kind === 'stale'

/** Whether it was done; false if it was refused as stale. */
async function act(database: Ovsdb, { token, step }: Act, name: string): Promise<boolean> {
  const row = { name, external_ids: map({ written: token }) }
  const work =
    step === 'take'
      ? takeFence(database, token)
      : writeFenced(database, token, [{ op: 'insert', table: 'Logical_Switch', row }])
  return work.then(
    () => true,
    (error: unknown) => {
      if (isStale(error)) return false
      throw error
    },
  )
}

async function clear(database: Ovsdb): Promise<void> {
  await database.transact(NORTHBOUND, [
    { op: 'delete', table: 'NB_Global', where: [] },
    { op: 'delete', table: 'Logical_Switch', where: [] },
  ])
}

const acts = (token: string, ...steps: readonly Step[]) => steps.map((step) => ({ token, step }))

test(
  'no write of an older server comes after the newer one took over, in every order',
  { skip },
  async () => {
    await using one = await Ovsdb.open({ path: server.path })
    await using other = await Ovsdb.open({ path: server.path })
    const orders = interleavings(
      acts(OLDER, 'take', 'write', 'take', 'write', 'write'),
      acts(NEWER, 'take', 'write', 'write'),
    )
    assert.equal(orders.length, 56)
    for (const order of orders) {
      await clear(one)
      let highest = 0n
      for (const [at, each] of order.entries()) {
        const database = each.token === OLDER ? one : other
        const isDone = await act(database, each, String(at))
        const token = BigInt(each.token)
        // It succeeds exactly if no newer server has taken the database, and a write needs that its own server has.
        const expected = each.step === 'take' ? token >= highest : token === highest
        assert.equal(isDone, expected, JSON.stringify(order))
        if (each.step === 'take' && isDone) highest = token
      }
      const written = await one.select(NORTHBOUND, 'Logical_Switch', ['name', 'external_ids'])
      const took = order.findIndex(({ token, step }) => token === NEWER && step === 'take')
      const late = written.filter(
        ({ name, external_ids: ids }) => Number(name) > took && JSON.stringify(ids).includes(OLDER),
      )
      assert.deepEqual(late, [])
    }
  },
)

test(
  'of two servers that take an empty database at once, the newer one has it in the end',
  { skip },
  async () => {
    await using one = await Ovsdb.open({ path: server.path })
    await using other = await Ovsdb.open({ path: server.path })
    for (let round = 0; round < 20; round++) {
      await clear(one)
      const take = (database: Ovsdb, token: string) => act(database, { token, step: 'take' }, '')
      const [older, newer] = await Promise.all([take(one, OLDER), take(other, NEWER)])
      assert.ok(older || newer)
      // One of them may have been refused because the other came first; it tries again, as the server does.
      if (!newer) assert.equal(await take(other, NEWER), true)
      assert.equal(await act(one, { token: OLDER, step: 'write' }, 'late'), false)
      assert.equal(await act(other, { token: NEWER, step: 'write' }, 'new'), true)
    }
  },
)
