// Goal: pages and totals over 100,000 VMs are exact, quick and nobody else's. Method: real rows in a real Postgres, through HTTP;
// 5,000 filters from a seed against an oracle in plain JavaScript.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, readXml } from '@skerry/xml'

import { tokenOf } from './asker-of.ts'
import { fuzz, readKnown, type Scope } from './fuzz-query.ts'
import { addMany, GIANT, SMALL } from './many-rows.ts'
import { BASE, openDoor, read, type Door } from './tenants-door.ts'

const SIZE = { vms: 100_000, orgs: 100, giant: 20_000 }
const SEED = Number(process.env['SKERRY_SEED'] ?? 20_261_115)
const ROUNDS = 21
const RATIO_MAX = 4
const FILTERS = Number(process.env['SKERRY_FILTERS'] ?? 5000)

let door: Door
let tokens: { giant: string; small: string; administrator: string }
before(async () => {
  door = await openDoor()
  const { db } = door.cloud
  await addMany(door.cloud, SIZE)
  tokens = {
    giant: await tokenOf(db, GIANT),
    small: await tokenOf(db, SMALL),
    administrator: await tokenOf(db, 'System', 'system administrator'),
  }
})
after(() => door[Symbol.asyncDispose]())

const first: readonly (readonly [name: string, asked: string])[] = [
  ['no filter', ''],
  ['by status', '&filter=status==POWERED_ON&fields=name,containerName'],
  ['by status, sorted by name', '&filter=status==POWERED_ON&sortAsc=name'],
  ['by status, sorted by name downwards', '&filter=status==POWERED_ON&sortDesc=name'],
  ['by what it is not', '&filter=status!=POWERED_OFF;isVAppTemplate==false'],
  ['a rare status', '&filter=status==FAILED_CREATION&sortAsc=containerName'],
]

const middle = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

for (const [name, asked] of first) {
  test(`the first page ${name} takes hardly longer than one of a handful of rows`, async () => {
    for (const who of ['giant', 'small', 'administrator'] as const) {
      const type = who === 'administrator' ? 'adminVM' : 'vm'
      const ask = () => door.ask('GET', `/api/query?type=${type}${asked}`, { token: tokens[who] })
      const few = () => door.ask('GET', `/api/query?type=vm${asked}`, { token: door.eng.token })
      const root = read(await ask())
      assert.ok(Number(attribute(root, 'total')) > 0)
      const [many, handful]: [number[], number[]] = [[], []]
      for (let round = 0; round < ROUNDS; round += 1) {
        many.push(await timed(ask))
        handful.push(await timed(few))
      }
      // A page of 25 records is more to write than one of few; whatever reads all rows is ten times that and more.
      const ratio = middle(many) / middle(handful)
      assert.ok(
        ratio < RATIO_MAX,
        `${who}: ${middle(many)} ms, ${middle(handful)} ms with few rows`,
      )
    }
  })
}

test('filters from a seed find what plain JavaScript finds, no row of another organisation, none longer than 2 s', async (t) => {
  const all = await readKnown(door.cloud.db)
  const of = await door.cloud.db.selectFrom('org').select(['id', 'name']).execute()
  const rowsOf = (name: string) => {
    const org = of.find((each) => each.name === name)?.id
    return all.filter((each) => each.org === org)
  }
  const small: Scope = { token: tokens.small, type: 'vm', rows: rowsOf(SMALL) }
  const giant: Scope = { token: tokens.giant, type: 'vm', rows: rowsOf(GIANT) }
  const everything: Scope = { token: tokens.administrator, type: 'adminVM', rows: all }
  assert.ok(small.rows.length > 500 && giant.rows.length === SIZE.giant && all.length > SIZE.vms)
  const scopes = [...Array.from({ length: 16 }, () => small), giant, giant, giant, everything]
  const told = await fuzz(door.ask, scopes, all, { seed: SEED, count: FILTERS, base: BASE })
  t.diagnostic(JSON.stringify(told))
  assert.equal(told.tooLong, 0)
  assert.ok(told.slowestMs < 2000, `${told.slowestMs} ms`)
  assert.ok(told.compared > FILTERS * 0.8 && told.refused > 0)
})

test('a walk over all pages by nextPage meets every record once', async () => {
  const seen = new Set<string>()
  let path: string | undefined = '/api/query?type=vm&pageSize=128&sortAsc=name&fields=name'
  for (; path !== undefined;) {
    const { text } = await door.ask('GET', path, { token: tokens.small })
    for (const [, id = ''] of text.matchAll(/<VMRecord [^>]*href="[^"]*vm-([^"]+)"/g)) {
      assert.ok(!seen.has(id))
      seen.add(id)
    }
    path = /rel="nextPage"[^>]*href="([^"]+)"/
      .exec(text)?.[1]
      ?.replaceAll('&amp;', '&')
      .replace(BASE, '')
  }
  const root = readXml((await door.ask('GET', '/api/query?type=vm', { token: tokens.small })).text)
  assert.equal(seen.size, Number(attribute(root, 'total')))
})
