// Goal: pages and totals over 100,000 VMs are exact and quick. Method: real rows in a real Postgres, through HTTP; times as ratios.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, readXml } from '@skerry/xml'

import { openManyRecordsApi, type ManyRecordsApi } from './many-records-api.ts'
import { BASE, read } from './tenants-api.ts'

const ROUNDS = 21
const RATIO_MAX = 4

let many: ManyRecordsApi
before(async () => {
  many = await openManyRecordsApi()
})
after(() => many[Symbol.asyncDispose]())

const first: readonly (readonly [name: string, requested: string])[] = [
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

for (const [name, requested] of first) {
  test(`the first page ${name} takes hardly longer than one of a handful of rows`, async () => {
    const { api, tokens } = many
    for (const principal of ['giant', 'small', 'administrator'] as const) {
      const type = principal === 'administrator' ? 'adminVM' : 'vm'
      const ask = () =>
        api.ask('GET', `/api/query?type=${type}${requested}`, { token: tokens[principal] })
      const few = () => api.ask('GET', `/api/query?type=vm${requested}`, { token: api.eng.token })
      const root = read(await ask())
      assert.ok(Number(attribute(root, 'total')) > 0)
      const [page, handful]: [number[], number[]] = [[], []]
      for (let round = 0; round < ROUNDS; round += 1) {
        page.push(await timed(ask))
        handful.push(await timed(few))
      }
      // A page of 25 records takes longer to write than one of a few; a query that reads all rows takes ten times that and more.
      const ratio = middle(page) / middle(handful)
      assert.ok(
        ratio < RATIO_MAX,
        `${principal}: ${middle(page)} ms, ${middle(handful)} ms with few rows`,
      )
    }
  })
}

test('following nextPage over all pages returns every record once', async () => {
  const { api, tokens } = many
  const seen = new Set<string>()
  let path: string | undefined = '/api/query?type=vm&pageSize=128&sortAsc=name&fields=name'
  for (; path !== undefined;) {
    const { text } = await api.ask('GET', path, { token: tokens.small })
    for (const [, id = ''] of text.matchAll(/<VMRecord [^>]*href="[^"]*vm-([^"]+)"/g)) {
      assert.ok(!seen.has(id))
      seen.add(id)
    }
    path = /rel="nextPage"[^>]*href="([^"]+)"/
      .exec(text)?.[1]
      ?.replaceAll('&amp;', '&')
      .replace(BASE, '')
  }
  const root = readXml((await api.ask('GET', '/api/query?type=vm', { token: tokens.small })).text)
  assert.equal(seen.size, Number(attribute(root, 'total')))
})
