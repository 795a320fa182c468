// Goal: the projection is a function of the rows: the same rows give the same projection, a change stays within its unit, and nothing
// of an organisation is in a row of another. Method: 1,000 random clouds, in memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { uuidOf, type OvsdbOperation } from '@skerry/ovsdb'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { difference, type WantedUnit } from '../src/projection/difference.ts'
import { NorthboundCopy } from '../src/projection/northbound-copy.ts'
import type { NorthboundTable } from '../src/projection/northbound-row.ts'
import { northboundOf } from '../src/projection/northbound.ts'
import type { ProjectedCloud } from '../src/projection/projected-cloud.ts'
import { networkUnit } from '../src/projection/unit.ts'
import { changed, randomCloud } from './random-cloud.ts'

const CLOUDS = 1000

function project(cloud: ProjectedCloud): readonly WantedUnit[] {
  return northboundOf(cloud).map((each) => {
    if ('fault' in each) throw each.fault
    return each
  })
}

function idIn(operation: OvsdbOperation): string {
  if (operation.op === 'insert') return operation.uuid ?? ''
  assert.ok('where' in operation)
  const [condition] = operation.where
  return uuidOf(condition?.[2])
}

/** Executes operations as the database would. */
function apply(operations: readonly OvsdbOperation[], copy: NorthboundCopy): void {
  for (const operation of operations) {
    assert.ok('table' in operation)
    const [table, id] = [operation.table as NorthboundTable, idIn(operation)]
    if (operation.op === 'insert') copy.put(table, id, operation.row)
    else if (operation.op === 'delete') copy.remove(table, id)
    else if (operation.op === 'update') {
      copy.put(table, id, { ...copy.find(table, id)?.columns, ...operation.row })
    }
  }
}

const copyOf = (units: readonly WantedUnit[]): NorthboundCopy => {
  const copy = new NorthboundCopy()
  apply(difference(units, copy), copy)
  return copy
}

test(`projecting twice makes no difference, in ${CLOUDS} random clouds`, () => {
  for (let seed = 0; seed < CLOUDS; seed++) {
    const cloud = randomCloud(seededRandom(seed))
    const copy = copyOf(project(cloud))
    // In another order, as another query plan may return the rows.
    const turned = {
      ...cloud,
      nics: cloud.nics.toReversed(),
      networks: cloud.networks.toReversed(),
      gateways: cloud.gateways.toReversed(),
      securityGroups: cloud.securityGroups.toReversed(),
    }
    assert.deepEqual(difference(project(turned), copy), [], `seed ${seed}`)
  }
})

test('a change of a unit changes only its rows', () => {
  for (let seed = 0; seed < CLOUDS; seed++) {
    const random = seededRandom(seed)
    const cloud = randomCloud(random)
    const after = changed(cloud, random)
    if (!after) continue
    const copy = copyOf(project(cloud))
    const unit = networkUnit(after.network)
    const units = project(after.cloud)
    const own = new Set(copy.rowsOf(unit).map(({ id }) => id))
    for (const { rows } of units.filter((each) => each.unit === unit)) {
      for (const { id } of rows) own.add(id)
    }
    const operations = difference(units, copy)
    const outside = operations.filter((operation) => !own.has(idIn(operation)))
    assert.deepEqual(outside, [], `seed ${seed}`)
    // Only that unit has to be compared.
    const alone = difference(
      units.filter((each) => each.unit === unit),
      copy,
    )
    assert.deepEqual(alone, operations, `seed ${seed}`)
    apply(alone, copy)
    assert.deepEqual(difference(units, copy), [], `seed ${seed}`)
  }
})

/** Ids, MAC addresses and external addresses, by their organisation. */
function secretsOf(cloud: ProjectedCloud): Map<string, readonly string[]> {
  const all = [
    ...cloud.networks.map(({ org, id }) => [org, id] as const),
    ...cloud.securityGroups.map(({ org, id }) => [org, id] as const),
    ...cloud.nics.flatMap(({ org, id, mac }) => [[org, id] as const, [org, mac] as const]),
    ...cloud.gateways.flatMap(({ org, id, addresses }) =>
      [id, ...addresses].map((each) => [org, each] as const),
    ),
  ]
  const grouped = Map.groupBy(all, ([org]) => org)
  return new Map([...grouped].map(([org, pairs]) => [org, pairs.map(([, secret]) => secret)]))
}

test('nothing of an organisation is in a row of another', () => {
  for (let seed = 0; seed < CLOUDS; seed++) {
    const cloud = randomCloud(seededRandom(seed))
    const secrets = secretsOf(cloud)
    const orgOf = new Map([
      ...cloud.gateways.map(({ id, org }) => [`edge gateway/${id}`, org] as const),
      ...cloud.networks.map((each) => [networkUnit(each), each.org] as const),
    ])
    for (const { unit, rows } of project(cloud)) {
      const org = orgOf.get(unit)
      if (org === undefined) continue
      // Addresses as whole words: 198.51.100.1 is in 198.51.100.11.
      const words = new Set(JSON.stringify(rows).split(/[^0-9a-f.:-]+|:(?=\d+")/))
      for (const [other, theirs] of secrets) {
        if (other === org) continue
        assert.deepEqual(
          theirs.filter((secret) => words.has(secret)),
          [],
          `seed ${seed}`,
        )
      }
    }
  }
})

test("no tenant's text is in a name or a match", () => {
  const names =
    /^(wire-|up-|in-|out-|group-)?[0-9a-f-]{36}(-[0-9a-f-]{36})?$|^(gateway|class|peer)_[0-9a-f]{32}$/
  // The only quoted text is the port of an edge gateway, which is named by its id.
  const matches = /^((in|out)port == "out-[0-9a-f-]{36}")?[\w@$.{}/, =!<>&|()]*$/
  for (let seed = 0; seed < CLOUDS; seed++) {
    const rows = project(randomCloud(seededRandom(seed))).flatMap((each) => each.rows)
    for (const { columns } of rows) {
      if (columns['name'] !== undefined) assert.match(String(columns['name']), names)
      if (columns['match'] !== undefined) assert.match(String(columns['match']), matches)
    }
  }
})
