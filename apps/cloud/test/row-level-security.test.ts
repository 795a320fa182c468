// Goal: keys reveal nothing about other organisations: PostgreSQL checks them regardless of row-level security, over all rows.
// Method: every key of every table of organisations, from pg_catalog, tried as a tenant: by SQL, and through the API where possible.
import assert from 'node:assert/strict'
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { sql } from 'kysely'

import type { Tx } from '../src/database/tables.ts'
import { fillTables } from './fill-tables.ts'
import { gapsIn, isUnguessable, readTables, type Table } from './organisation-tables.ts'
import { instantiate, openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let tables: readonly Table[]
let written: readonly Table[]

before(async () => {
  api = await openTenantsApi()
  tables = await readTables(api.cloud.db)
  written = tables.filter((each) => each.written)
  for (const tenant of [api.eng, api.ops]) await fillTables(api, tenant)
  // A name that both have would conflict with the own row, not with the other's.
  for (const { name, unique, columns: all } of written) {
    for (const column of ['name', 'key'] as const) {
      if (!unique.some(({ columns }) => columns.includes(column))) continue
      if (!all.some((each) => each.name === column && each.type === 'text')) continue
      await sql`update ${sql.table(name)} set ${sql.ref(column)} = 'ops-' || ${sql.ref(column)}
        where org = ${api.ops.org}`.execute(api.cloud.db)
    }
  }
})
after(() => api[Symbol.asyncDispose]())

class Undo extends Error {}

/** PostgreSQL's answer to the tenant, without ids: its error, or none. The change is rolled back. */
async function attempt(work: (tx: Tx) => Promise<unknown>): Promise<string> {
  const principal = { ...api.cloud.principal, org: api.eng.org }
  const tried = api.cloud.as(principal, async (tx) => {
    await work(tx)
    throw new Undo()
  })
  const error = await tried.then(
    () => assert.fail('the change was not rolled back'),
    (why: Error & { code?: string; detail?: string }) => why,
  )
  if (error instanceof Undo) return 'accepted'
  const { code, message, detail = '' } = error
  if (code === undefined) throw error
  return `${code} ${message} ${detail}`.replaceAll(UUID, 'U')
}
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

type Values = Readonly<Record<string, unknown>>

/** A value that no row has. */
function fresh({ columns }: Table, name: string): unknown {
  const type = columns.find((each) => each.name === name)?.type
  if (type === 'uuid') return randomUUID()
  if (type === 'bytea') return `\\x${randomBytes(32).toString('hex')}`
  if (type === 'text') return randomBytes(8).toString('hex')
  assert.ok(type?.startsWith('int'), `no example of ${name}, which is ${type}`)
  // Within what the checks of all columns allow: a card is one of ten, a key of a port has 15 bits.
  return name === 'index' ? randomInt(1, 10) : randomInt(20_000, 32_000)
}

/** Changes that turn a copy of a row into a different row. */
function distinct(table: Table): Values {
  const named = new Set(table.unique.flatMap(({ columns }) => columns))
  for (const { pairs } of table.foreign) for (const [here] of pairs) named.delete(here)
  const own = [...named].filter((name) => name !== null && name !== table.owner) as string[]
  return Object.fromEntries(own.map((name) => [name, fresh(table, name)]))
}

/** A copy of our row with other values. */
const copy =
  ({ name, columns }: Table, values: Values) =>
  (tx: Tx) => {
    const own = columns.filter(({ given }) => !given).map((each) => sql.ref(each.name))
    const made = columns.filter(({ given }) => !given).map((each) => sql.ref(`made.${each.name}`))
    return sql`insert into ${sql.table(name)} (${sql.join(own)}) select ${sql.join(made)}
    from (select * from ${sql.table(name)} limit 1) one,
      jsonb_populate_record(null::${sql.table(name)}, to_jsonb(one) || ${JSON.stringify(values)}::jsonb) made`.execute(
      tx,
    )
  }

/** Our row, changed. */
const change =
  ({ name }: Table, values: Values) =>
  (tx: Tx) => {
    const set = Object.keys(values).map(
      (column) => sql`${sql.ref(column)} = made.${sql.ref(column)}`,
    )
    return sql`update ${sql.table(name)} one set ${sql.join(set)}
    from jsonb_populate_record(null::${sql.table(name)}, ${JSON.stringify(values)}::jsonb) made
    where one.ctid = (select ctid from ${sql.table(name)} limit 1)`.execute(tx)
  }

/** A row of the other organisation with values in these columns. */
async function theirs(name: string, owner = 'org', says: readonly string[] = []): Promise<Values> {
  const { rows } = await sql<{
    row: Values
  }>`select to_jsonb(one) as row from ${sql.table(name)} one
    where ${sql.join([sql`${sql.ref(owner)} = ${api.ops.org}`, ...says.map((each) => sql`${sql.ref(each)} is not null`)], sql` and `)}
    limit 1`.execute(api.cloud.db)
  assert.ok(rows[0], `${name} has no row of the other organisation: give it one in fill()`)
  return rows[0].row
}

const pick = (row: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, row[name]]))

test('every table of organisations has row-level security, and no key of a table that tenants write bypasses it', () => {
  assert.ok(written.length >= 14, `${written.length} tables`)
  assert.deepEqual(gapsIn(tables), [])
})

test('a table that violates this is reported', async () => {
  const found = await api.cloud.asOwner((db) =>
    db.transaction().execute(async (tx) => {
      await sql`create table loose (org uuid, id uuid primary key, code text unique,
        task uuid references task, unique (id, org))`.execute(tx)
      await sql`grant insert on loose to skerry_tenant`.execute(tx)
      const gaps = gapsIn(await readTables(tx))
      await sql`drop table loose`.execute(tx)
      return gaps
    }),
  )
  assert.deepEqual(found.toSorted(), [
    'loose has no row-level security for tenants',
    'the foreign key loose_task_fkey of loose leads to task without its organisation',
    'the unique key loose_code_key of loose does not begin with org',
    'the unique key loose_id_org_key of loose does not begin with org',
  ])
})

test('a row for another organisation is rejected like one for an unknown organisation', async () => {
  for (const table of written) {
    for (const how of [copy, change]) {
      const as = (org: string) => attempt(how(table, { ...distinct(table), [table.owner]: org }))
      const result = await as(api.ops.org)
      assert.match(result, /^42501 /, `${table.name}: ${result}`)
      assert.equal(result, await as(randomUUID()), table.name)
    }
  }
})

test('a foreign key to a row of another organisation is rejected like one to a missing row', async (t) => {
  let tried = 0
  for (const table of written) {
    for (const { name, to, pairs } of table.foreign) {
      const there = tables.find((each) => each.name === to)
      const far = pairs.filter(([here]) => here !== table.owner)
      // Rows without an organisation are shared; and the owner column was tried above.
      if (!there || far.length === 0) continue
      const row = await theirs(to, there.owner)
      const foreign = Object.fromEntries(far.map(([here, column]) => [here, row[column]]))
      const nobodys = Object.fromEntries(far.map(([here]) => [here, randomUUID()]))
      for (const how of [copy, change]) {
        const others = how === copy ? distinct(table) : {}
        const result = await attempt(how(table, { ...others, ...foreign }))
        assert.notEqual(result, 'accepted', `${table.name}: ${name}`)
        assert.equal(result, await attempt(how(table, { ...others, ...nobodys })), name)
        tried += 1
      }
    }
  }
  t.diagnostic(`${tried} references across tenants, each as for what never was`)
  assert.ok(tried >= 20, `${tried}`)
})

test('a unique value of another organisation can be used here too', async (t) => {
  let tried = 0
  for (const table of written) {
    for (const key of table.unique) {
      const names = key.columns.filter((each) => each !== null && each !== table.owner) as string[]
      // A random id cannot be guessed.
      if (isUnguessable(table, { name: '', columns: names })) continue
      const theirRow = pick(await theirs(table.name, table.owner, names), names)
      const nobodys = Object.fromEntries(names.map((name) => [name, fresh(table, name)]))
      const result = await attempt(copy(table, { ...distinct(table), ...theirRow }))
      const expected = await attempt(copy(table, { ...distinct(table), ...nobodys }))
      assert.equal(result, expected, `${table.name}: ${key.name}`)
      tried += 1
    }
  }
  t.diagnostic(`${tried} unique keys across tenants, each as if the other had nothing`)
  assert.ok(tried >= 8, `${tried}`)
})

test('by the API: names, idempotency keys and metadata of the other organisation are free here', async () => {
  const { token, ids } = api.eng
  const admin = await api.enter(api.eng.org, 'organisation administrator')
  const path = `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`
  const make = (name: string, key?: string) =>
    api.ask('POST', path, {
      token,
      body: instantiate(name, (ids['template'] ?? '').slice(-36), false),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    })
  assert.equal((await make('ops-first')).status, 201)
  assert.equal((await make('first')).status, 409, 'our own is not free')
  const again = await make('ops-again', 'ops-again')
  assert.equal(again.status, 201, again.text)
  const named = async (method: string, at: string, body: string, ok: number, as = token) => {
    const { status, text } = await api.ask(method, at, { token: as, body })
    assert.equal(status, ok, text)
  }
  const value = '<MetadataValue><Value>red</Value></MetadataValue>'
  await named('POST', '/api/session/tokens', '<AccessTokenParams name="ops-script"/>', 201)
  await named('PUT', `/api/vApp/${api.eng.vapp}`, '<VApp name="ops-second"/>', 202)
  await named('PUT', `/api/vApp/${api.eng.vapp}/metadata/ops-colour`, value, 202)
  const user = `<User name="ops-alice"><Role name="user"/><Password>long enough</Password></User>`
  await named('POST', `/api/admin/org/${api.eng.org}/users`, user, 201, admin)
})

test('by the API: resources of another organisation in a body are as unknown as missing ones', async () => {
  const none = randomUUID()
  const template = (id = '') => `/api/vAppTemplate/vappTemplate-${id.slice(-36)}`
  const item = (id?: string) => `<SourcedItem><Source href="${template(id)}"/></SourcedItem>`
  const vdc = `/api/vdc/${api.eng.ids['vdc']}/action`
  const recompose = `/api/vApp/${api.eng.vapp}/action/recomposeVApp`
  const { template: theirTemplate, entity: theirVm } = api.ops.ids
  const bodies: [string, (id: string) => string, string | undefined][] = [
    [
      `${vdc}/instantiateVAppTemplate`,
      (id) => instantiate('x', id.slice(-36), false),
      theirTemplate,
    ],
    [
      `${vdc}/composeVApp`,
      (id) => `<ComposeVAppParams name="x">${item(id)}</ComposeVAppParams>`,
      theirTemplate,
    ],
    [recompose, (id) => `<RecomposeVAppParams>${item(id)}</RecomposeVAppParams>`, theirTemplate],
    [
      recompose,
      (id) =>
        `<RecomposeVAppParams><DeleteItem href="/api/vApp/vm-${id.slice(-36)}"/></RecomposeVAppParams>`,
      theirVm,
    ],
  ]
  const roles = ['author', 'organisation administrator', 'system administrator'] as const
  const asking = api.spoken.flatMap((at) => roles.map((role) => ({ ...at, role })))
  for (const { role, ask, dialect } of asking) {
    const { invalid, conflict, 'not-found': away } = dialect.refusals
    const refused = [invalid, conflict, away].map(({ status }) => status)
    const token = await api.enter(api.eng.org, role)
    for (const [path, body, foreign = ''] of bodies) {
      const requested = async (id: string) => {
        const { status, text } = await ask('POST', path, { token, body: body(id) })
        return [status, text.replaceAll(id.slice(-36), 'U')]
      }
      const result = await requested(foreign)
      assert.ok(refused.includes(Number(result[0])), `${role} ${path}: ${result.join(' ')}`)
      assert.deepEqual(result, await requested(none), `${role} ${path}`)
    }
  }
})

test('a security definer function has its own search_path, and only these roles may call it', async () => {
  const { rows } = await sql<{ name: string; path: string[] | null; principal: string[] }>`
    select proname as name, proconfig as path,
      (select array_agg(rolname::text order by rolname) from pg_roles r
        where r.rolname like 'skerry%' and has_function_privilege(r.oid, p.oid, 'execute')) as principal
    from pg_proc p where pronamespace = 'public'::regnamespace and prosecdef and prorettype <> 'trigger'::regtype order by 1`.execute(
    api.cloud.db,
  )
  const [path, principal] = [['search_path=public, pg_temp'], ['skerry_console', 'skerry_system']]
  const both = ['skerry_system', 'skerry_tenant']
  const network = ['skerry_network', 'skerry_system']
  assert.deepEqual(rows, [
    { name: 'close_console', path, principal },
    { name: 'end_network_change', path, principal: network },
    { name: 'fail_network_change', path, principal: network },
    { name: 'has_networks', path, principal: both },
    { name: 'hold_zone', path, principal: network },
    { name: 'host_reaches', path, principal: both },
    { name: 'host_takes_cards', path, principal: both },
    { name: 'keep_events', path: [...path, 'lock_timeout=200ms'], principal: ['skerry_system'] },
    { name: 'networks_projected', path, principal: both },
    { name: 'open_zone', path, principal: network },
    { name: 'provide_default_edge_gateway', path, principal: both },
    { name: 'provide_default_network', path, principal: both },
    { name: 'redeem_ticket', path, principal },
    { name: 'release_external_address', path, principal: both },
    { name: 'release_zone', path, principal: network },
    { name: 'renew_consoles', path, principal },
    { name: 'report_corrections', path, principal: network },
    { name: 'take_external_address', path, principal: both },
    { name: 'take_ipv6_prefix', path, principal: both },
    { name: 'take_network_key', path, principal: both },
    {
      name: 'task_wait',
      path: [...path, 'plan_cache_mode=force_generic_plan'],
      principal: both,
    },
    { name: 'write_edge_gateway', path, principal: both },
  ])
})

test('only the organisation of a task can read why it waits', async () => {
  const { db } = api.cloud
  const vm = api.eng.ids['entity']?.slice(-36)
  // There is no worker here: the task waits for one.
  await sql`update vm set wake_attempts = 1, host = null where id = ${vm}`.execute(db)
  const seen = (org: string) =>
    db.transaction().execute(async (tx) => {
      await sql`select set_config('app.org', ${org}, true)`.execute(tx)
      const { rows } = await sql`select from task_wait(${api.eng.ids['task']})`.execute(tx)
      return rows.length
    })
  assert.deepEqual([await seen(api.eng.org), await seen(api.ops.org)], [1, 0])
})

test('a tenant sees the rows of its own organisation and no others', async () => {
  const { cloud, eng, ops } = api
  const seen = (org: typeof eng.org) =>
    cloud.as({ ...cloud.principal, org }, (tx) =>
      tx.selectFrom('vm').select('org').distinct().execute(),
    )
  const { id: empty } = await cloud.db
    .insertInto('org')
    .values({ name: 'other' })
    .returning('id')
    .executeTakeFirstOrThrow()
  assert.deepEqual(await seen(eng.org), [{ org: eng.org }])
  assert.deepEqual(await seen(ops.org), [{ org: ops.org }])
  assert.deepEqual(await seen(empty), [])
})
