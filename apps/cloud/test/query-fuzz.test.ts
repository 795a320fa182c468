// Goal: a filter over 100,000 VMs finds the rows it describes, and no row of another organisation. Method: real rows in a real Postgres,
// through HTTP; 5,000 filters from a seed against an oracle in plain JavaScript.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fuzz, readKnown, type Scope } from './fuzz-query.ts'
import { openManyRecordsApi, SIZE } from './many-records-api.ts'
import { GIANT, SMALL } from './many-rows.ts'
import { BASE } from './tenants-api.ts'

const SEED = Number(process.env['SKERRY_SEED'] ?? 20_261_115)
const FILTERS = Number(process.env['SKERRY_FILTERS'] ?? 5000)

test('filters from a seed find what plain JavaScript finds, no row of another organisation, none longer than 2 s', async (t) => {
  await using many = await openManyRecordsApi()
  const { api, tokens } = many
  const all = await readKnown(api.cloud.db)
  const of = await api.cloud.db.selectFrom('org').select(['id', 'name']).execute()
  const rowsOf = (name: string) => {
    const org = of.find((each) => each.name === name)?.id
    return all.filter((each) => each.org === org)
  }
  const small: Scope = { token: tokens.small, type: 'vm', rows: rowsOf(SMALL) }
  const giant: Scope = { token: tokens.giant, type: 'vm', rows: rowsOf(GIANT) }
  const everything: Scope = { token: tokens.administrator, type: 'adminVM', rows: all }
  assert.ok(small.rows.length > 500 && giant.rows.length === SIZE.giant && all.length > SIZE.vms)
  const scopes = [...Array.from({ length: 16 }, () => small), giant, giant, giant, everything]
  const counts = await fuzz(api.ask, scopes, all, { seed: SEED, count: FILTERS, base: BASE })
  t.diagnostic(JSON.stringify(counts))
  assert.equal(counts.tooLong, 0)
  assert.ok(counts.slowestMs < 2000, `${counts.slowestMs} ms`)
  assert.ok(counts.compared > FILTERS * 0.8 && counts.refused > 0)
})
