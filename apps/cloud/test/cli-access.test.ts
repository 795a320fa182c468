// Goal: vApps and catalogs are shared with `skerry access`. Method: as cli-resources.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { sql } from 'kysely'

import type { Profile } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

type Role = Parameters<TenantsApi['enter']>[1]
type Run = (...words: readonly string[]) => ReturnType<typeof skerry>

let api: TenantsApi
let author: Run
before(async () => {
  api = await openTenantsApi()
  author = await as('author')
})
after(() => api[Symbol.asyncDispose]())

async function as(role: Role, secret = ''): Promise<Run> {
  const token = await api.enter(api.eng.org, role)
  const work: Profile = { url: `http://127.0.0.1:${api.port}`, user: 'alice@eng', token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return (...words) =>
    skerry('http://127.0.0.1:9', words, { profiles, readSecret: async () => secret })
}

const rowsOf = async (run: Run, ...words: readonly string[]) => {
  const { code, out, err } = await run(...words, '--json')
  assert.equal(code, 0, `${words.join(' ')}: ${err}`)
  return JSON.parse(out) as Readonly<Record<string, unknown>>[]
}

test('a vApp and a catalog are shared with users, groups and everyone, and no longer', async () => {
  const { db } = api.cloud
  const { org } = api.eng
  await sql`insert into group_role (org, provider, name, role)
    select org, id, 'developers', 'user' from identity_provider where org = ${org} and name = 'lab'`.execute(
    db,
  )
  await sql`insert into account (org, name, role, password) values (${org}, 'bob', 'user', 'none')`.execute(
    db,
  )
  const set = await author('access', 'set', 'first', '--user', 'bob', '--level', 'change')
  assert.deepEqual(
    [set.code, set.out],
    [0, 'vApp first is shared with user bob: change\n'],
    set.err,
  )
  const group = ['--group', 'developers', '--provider', 'lab']
  const more = await author('access', 'set', 'first', ...group)
  assert.equal(more.out, 'vApp first is shared with group developers of lab: read-only\n', more.err)
  assert.equal((await author('access', 'set', 'first', '--everyone')).code, 0)
  const again = await author(
    'access',
    'set',
    'first',
    '--user',
    'bob@eng',
    '--level',
    'full-control',
  )
  assert.equal(again.code, 0, again.err)
  assert.deepEqual(await rowsOf(author, 'access', 'list', 'first'), [
    { type: 'everyone', name: '', provider: '', level: 'read-only' },
    { type: 'user', name: 'bob', provider: '', level: 'full-control' },
    { type: 'group', name: 'developers', provider: 'lab', level: 'read-only' },
  ])
  assert.match(
    (await author('access', 'list', 'first')).out,
    /^SHARED WITH +NAME +PROVIDER +LEVEL\neveryone +- +- +read-only\nuser +bob +- +full-control\n/,
  )
  const rm = await author('access', 'rm', 'first', ...group)
  assert.equal(rm.out, 'vApp first is no longer shared with group developers of lab\n', rm.err)
  const gone = await author('access', 'rm', 'first', ...group)
  assert.match(
    gone.err,
    /vApp first is not shared with group developers of lab\nnext: skerry access list/,
  )
  const onCatalog = await rowsOf(author, 'access', 'set', '--catalog', 'main', '--everyone')
  assert.deepEqual(onCatalog, [{ type: 'everyone', name: '', provider: '', level: 'read-only' }])
  assert.deepEqual(await rowsOf(author, 'access', 'rm', '--catalog', 'main', '--everyone'), [])
  const user = await as('user')
  const refused = await user('access', 'set', 'first', '--everyone', '--level', 'change')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /right/)
  for (const wrong of [
    ['first'],
    ['first', '--user', 'bob', '--everyone'],
    ['first', '--group', 'developers'],
    ['first', '--user', 'bob', '--provider', 'lab'],
    ['first', '--user', 'bob', '--level', 'all'],
    ['first', '--user', 'bob', '--catalog', 'main'],
    ['--user', 'bob'],
  ]) {
    assert.equal((await author('access', 'set', ...wrong)).code, 2, wrong.join(' '))
  }
  assert.equal((await author('access', 'rm', 'first')).code, 2)
  assert.match((await author('access', 'set', 'first', '--user', 'nobody')).err, /no user nobody/)
})
