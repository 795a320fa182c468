// Goal: OVN's database accepts every projection, and holds exactly what was projected. Method: random clouds, one after the other, on
// a real ovsdb-server with OVN's schema.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Ovsdb } from '@skerry/ovsdb'
import { ovnSchemas } from '@skerry/site'

import {
  needsOvsdbServer,
  startOvsdbServer,
  type OvsdbServer,
} from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { NORTHBOUND, takeFence } from '../src/ovn/fence.ts'
import { followNorthbound } from '../src/ovn/follow-northbound.ts'
import { packed, writeUnits } from '../src/ovn/write-units.ts'
import { difference, type WantedUnit } from '../src/projection/difference.ts'
import { NorthboundCopy } from '../src/projection/northbound-copy.ts'
import { northboundOf } from '../src/projection/northbound.ts'
import type { ProjectedCloud } from '../src/projection/projected-cloud.ts'
import { changed, randomCloud } from './random-cloud.ts'
import { smallCloud } from './small-cloud.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)
const CLOUDS = 200
const TOKEN = '1'

let server: OvsdbServer
before(async () => {
  if (skip === false) server = await startOvsdbServer({ schema: ovnSchemas.northbound })
})
after(() => server?.[Symbol.asyncDispose]())

/** All units of a cloud, and those that are there and not in it. */
function unitsOf(cloud: ProjectedCloud, copy: NorthboundCopy): readonly WantedUnit[] {
  const units = northboundOf(cloud).map((each) => {
    if ('fault' in each) throw each.fault
    return each
  })
  const names = new Set(units.map(({ unit }) => unit))
  const gone = copy.units().filter((unit) => !names.has(unit))
  return [...units, ...gone.map((unit) => ({ unit, rows: [] }))]
}

test(`${CLOUDS} random clouds are accepted and read back as projected`, { skip }, async () => {
  await using database = await Ovsdb.open({ path: server.path })
  await takeFence(database, TOKEN)
  const copy = await followNorthbound(database)
  const writer = { database, copy, token: TOKEN }
  const write = async (cloud: ProjectedCloud, seed: number) => {
    const { refused } = await writeUnits(writer, unitsOf(cloud, copy))
    assert.deepEqual([...refused], [], `seed ${seed}`)
    // The copy followed before the transaction was answered.
    assert.deepEqual(difference(unitsOf(cloud, copy), copy), [], `seed ${seed}`)
  }
  for (let seed = 0; seed < CLOUDS; seed++) {
    const random = seededRandom(seed)
    const cloud = randomCloud(random)
    await write(cloud, seed)
    const after = changed(cloud, random)
    if (after) await write(after.cloud, seed)
  }
  const read = await followNorthbound(database)
  assert.deepEqual(read.units().toSorted(), copy.units().toSorted())
  await writeUnits(
    writer,
    unitsOf({ ...smallCloud(), groups: [], gateways: [], networks: [], nics: [] }, copy),
  )
  for (const table of ['Logical_Switch', 'Logical_Router', 'Logical_Switch_Port', 'ACL', 'DNS']) {
    assert.deepEqual(
      await database.select(NORTHBOUND, table, ['_uuid']),
      [],
      'nothing is left over',
    )
  }
})

test('a unit that the database refuses fails alone', { skip }, async () => {
  await using database = await Ovsdb.open({ path: server.path })
  await takeFence(database, TOKEN)
  const copy = await followNorthbound(database)
  const good = unitsOf(smallCloud(), copy)
  const wrong = {
    unit: 'network/wrong',
    rows: [
      { table: 'Logical_Switch', id: 'f0000000-0000-7000-8000-000000000001', columns: { name: 7 } },
    ],
  } as const
  const { refused } = await writeUnits({ database, copy, token: TOKEN }, [wrong, ...good])
  assert.deepEqual([...refused.keys()], ['network/wrong'])
  assert.deepEqual(difference(good, copy), [])
})

test('rows of others are left alone', { skip }, async () => {
  await using database = await Ovsdb.open({ path: server.path })
  await takeFence(database, TOKEN)
  await database.transact(NORTHBOUND, [
    { op: 'insert', table: 'Logical_Switch', row: { name: 'by-hand' } },
  ])
  const copy = await followNorthbound(database)
  const nothing = { ...smallCloud(), groups: [], gateways: [], networks: [], nics: [] }
  await writeUnits({ database, copy, token: TOKEN }, unitsOf(nothing, copy))
  assert.deepEqual(await database.select(NORTHBOUND, 'Logical_Switch', ['name']), [
    { name: 'by-hand' },
  ])
})

test('a fill is divided into transactions of whole units with at most 2,000 operations', () => {
  const copy = new NorthboundCopy()
  const units = Array.from({ length: 40 }, (_, seed) =>
    unitsOf(randomCloud(seededRandom(seed)), copy),
  ).flat()
  const packs = packed(units, copy)
  assert.deepEqual(
    packs.flat().map(({ unit }) => unit),
    units.filter(({ rows }) => rows.length > 0).map(({ unit }) => unit),
  )
  assert.ok(packs.length > 1)
  for (const pack of packs) {
    const operations = pack.reduce((sum, { rows }) => sum + rows.length, 0)
    assert.ok(operations <= 2000 || pack.length === 1)
  }
})
