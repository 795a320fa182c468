// Goal: keys tell no organisation of another: PostgreSQL checks them behind row-level security, and sees all rows when it does.
// Method: every key of every table of organisations, as pg_catalog has them, tried as a tenant: by SQL, and where an address leads there.
import assert from 'node:assert/strict'
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { sql } from 'kysely'

import type { Tx } from '../src/world.ts'
import { instantiate, openDoor, type Door } from './tenants-door.ts'
import { gapsIn, isUnguessable, readTables, type Table } from './walled-tables.ts'

let door: Door
let tables: readonly Table[]
let written: readonly Table[]

before(async () => {
  door = await openDoor()
  tables = await readTables(door.cloud.db)
  written = tables.filter((each) => each.written)
  for (const tenant of [door.eng, door.ops]) await fill(tenant)
  // What both have by the same name would meet itself, not the other's.
  for (const { name, unique } of written) {
    for (const column of ['name', 'key'] as const) {
      if (!unique.some(({ columns }) => columns.includes(column))) continue
      await sql`update ${sql.table(name)} set ${sql.ref(column)} = 'ops-' || ${sql.ref(column)}
        where org = ${door.ops.org}`.execute(door.cloud.db)
    }
  }
})
after(() => door[Symbol.asyncDispose]())

/** A row in each table that the door does not fill by itself. If yours is empty: here is where it gets one. */
async function fill({ org, token, ids, vapp }: Door['eng']): Promise<void> {
  const { vdc, template = '' } = ids
  await door.ask('POST', `/api/vdc/${vdc}/action/instantiateVAppTemplate`, {
    ...{ token, body: instantiate('second', template.slice(-36), false) },
    headers: { 'idempotency-key': 'again' },
  })
  const body = '<MetadataValue><Value>red</Value></MetadataValue>'
  await door.ask('PUT', `/api/vApp/${vapp}/metadata/colour`, { token, body })
  await sql`insert into screen_ticket (ticket_hash, org, vm, boot, host, account_org, account)
    select ${randomBytes(32)}, vm.org, vm.id, 'boot', ${door.cloud.host}, account.org, account.id
    from vm join account using (org) where org = ${org} limit 1`.execute(door.cloud.db)
  await sql`insert into guest_seed (org, vm, sealed) select org, id, ${randomBytes(32)} from vm
    where org = ${org} limit 1`.execute(door.cloud.db)
}

class Undo extends Error {}

/** How PostgreSQL answers the tenant, with the ids in it left out: its error, or that there is none. Nothing of it stays. */
async function attempt(work: (tx: Tx) => Promise<unknown>): Promise<string> {
  const who = { ...door.cloud.who, org: door.eng.org }
  const tried = door.cloud.as(who, async (tx) => {
    await work(tx)
    throw new Undo()
  })
  const error = await tried.then(
    () => assert.fail('what was tried stays'),
    (why: Error & { code?: string; detail?: string }) => why,
  )
  if (error instanceof Undo) return 'accepted'
  const { code, message, detail = '' } = error
  if (code === undefined) throw error
  return `${code} ${message} ${detail}`.replaceAll(UUID, 'U')
}
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

type Values = Readonly<Record<string, unknown>>

/** A value that nobody has. */
function fresh({ columns }: Table, name: string): unknown {
  const type = columns.find((each) => each.name === name)?.type
  if (type === 'uuid') return randomUUID()
  if (type === 'bytea') return `\\x${randomBytes(32).toString('hex')}`
  if (type === 'text') return randomBytes(8).toString('hex')
  assert.ok(type?.startsWith('int'), `no example of ${name}, which is ${type}`)
  return randomInt(1_000_000, 2_000_000_000)
}

/** What makes a copy of a row another row. */
function distinct(table: Table): Values {
  const named = new Set(table.unique.flatMap(({ columns }) => columns))
  for (const { pairs } of table.foreign) for (const [here] of pairs) named.delete(here)
  const own = [...named].filter((name) => name !== null && name !== table.owner) as string[]
  return Object.fromEntries(own.map((name) => [name, fresh(table, name)]))
}

/** A row of ours once more, with other values. */
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

/** A row of ours changed. */
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

/** A row of the other organisation that says something in these columns. */
async function theirs(name: string, owner = 'org', says: readonly string[] = []): Promise<Values> {
  const { rows } = await sql<{
    row: Values
  }>`select to_jsonb(one) as row from ${sql.table(name)} one
    where ${sql.join([sql`${sql.ref(owner)} = ${door.ops.org}`, ...says.map((each) => sql`${sql.ref(each)} is not null`)], sql` and `)}
    limit 1`.execute(door.cloud.db)
  assert.ok(rows[0], `${name} has no row of the other organisation: give it one in fill()`)
  return rows[0].row
}

const pick = (row: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, row[name]]))

test('every table of organisations is walled, and no key of one that tenants write leads round the wall', () => {
  assert.ok(written.length >= 14, `${written.length} tables`)
  assert.deepEqual(gapsIn(tables), [])
})

test('a table that breaks this is told of', async () => {
  const found = await door.cloud.asOwner((db) =>
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

test('a row in the name of another organisation is refused as one in the name of none', async () => {
  for (const table of written) {
    for (const how of [copy, change]) {
      const as = (org: string) => attempt(how(table, { ...distinct(table), [table.owner]: org }))
      const told = await as(door.ops.org)
      assert.match(told, /^42501 /, `${table.name}: ${told}`)
      assert.equal(told, await as(randomUUID()), table.name)
    }
  }
})

test('a foreign key that names a row of another organisation is refused as one that names none', async (t) => {
  let tried = 0
  for (const table of written) {
    for (const { name, to, pairs } of table.foreign) {
      const there = tables.find((each) => each.name === to)
      const far = pairs.filter(([here]) => here !== table.owner)
      // What belongs to no organisation is everybody's; and whose a row is was tried above.
      if (!there || far.length === 0) continue
      const row = await theirs(to, there.owner)
      const foreign = Object.fromEntries(far.map(([here, column]) => [here, row[column]]))
      const nobodys = Object.fromEntries(far.map(([here]) => [here, randomUUID()]))
      for (const how of [copy, change]) {
        const others = how === copy ? distinct(table) : {}
        const told = await attempt(how(table, { ...others, ...foreign }))
        assert.notEqual(told, 'accepted', `${table.name}: ${name}`)
        assert.equal(told, await attempt(how(table, { ...others, ...nobodys })), name)
        tried += 1
      }
    }
  }
  t.diagnostic(`${tried} references across tenants, each as for what never was`)
  assert.ok(tried >= 20, `${tried}`)
})

test('what another organisation has under a unique key may be had here too', async (t) => {
  let tried = 0
  for (const table of written) {
    for (const key of table.unique) {
      const names = key.columns.filter((each) => each !== null && each !== table.owner) as string[]
      // A random id is met by nobody who does not know it.
      if (isUnguessable(table, { name: '', columns: names })) continue
      const theirRow = pick(await theirs(table.name, table.owner, names), names)
      const nobodys = Object.fromEntries(names.map((name) => [name, fresh(table, name)]))
      const told = await attempt(copy(table, { ...distinct(table), ...theirRow }))
      const expected = await attempt(copy(table, { ...distinct(table), ...nobodys }))
      assert.equal(told, expected, `${table.name}: ${key.name}`)
      tried += 1
    }
  }
  t.diagnostic(`${tried} unique keys across tenants, each as if the other had nothing`)
  assert.ok(tried >= 8, `${tried}`)
})

test('by the API: names, keys of requests and metadata that the other organisation has are free here', async () => {
  const { token, ids } = door.eng
  const admin = await door.enter(door.eng.org, 'organisation administrator')
  const path = `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`
  const make = (name: string, key?: string) =>
    door.ask('POST', path, {
      ...{ token, body: instantiate(name, (ids['template'] ?? '').slice(-36), false) },
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    })
  assert.equal((await make('ops-first')).status, 201)
  assert.equal((await make('first')).status, 409, 'our own is not free')
  const again = await make('ops-again', 'ops-again')
  assert.equal(again.status, 201, again.text)
  const named = async (method: string, at: string, body: string, ok: number, as = token) => {
    const { status, text } = await door.ask(method, at, { token: as, body })
    assert.equal(status, ok, text)
  }
  const value = '<MetadataValue><Value>red</Value></MetadataValue>'
  await named('POST', '/api/session/tokens', '<AccessTokenParams name="ops-script"/>', 201)
  await named('PUT', `/api/vApp/${door.eng.vapp}`, '<VApp name="ops-second"/>', 202)
  await named('PUT', `/api/vApp/${door.eng.vapp}/metadata/ops-colour`, value, 202)
  const user = `<User name="ops-alice"><Role name="user"/><Password>long enough</Password></User>`
  await named('POST', `/api/admin/org/${door.eng.org}/users`, user, 201, admin)
})

test('by the API: what a body names of another organisation is as unknown as what never was', async () => {
  const none = randomUUID()
  const template = (id = '') => `/api/vAppTemplate/vappTemplate-${id.slice(-36)}`
  const item = (id?: string) => `<SourcedItem><Source href="${template(id)}"/></SourcedItem>`
  const vdc = `/api/vdc/${door.eng.ids['vdc']}/action`
  const recompose = `/api/vApp/${door.eng.vapp}/action/recomposeVApp`
  const { template: theirTemplate, entity: theirVm } = door.ops.ids
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
  const asking = door.spoken.flatMap((at) => roles.map((role) => ({ ...at, role })))
  for (const { role, ask, dialect } of asking) {
    const { invalid, conflict, 'not-found': away } = dialect.refusals
    const refused = [invalid, conflict, away].map(({ status }) => status)
    const token = await door.enter(door.eng.org, role)
    for (const [path, body, foreign = ''] of bodies) {
      const asked = async (id: string) => {
        const { status, text } = await ask('POST', path, { token, body: body(id) })
        return [status, text.replaceAll(id.slice(-36), 'U')]
      }
      const told = await asked(foreign)
      assert.ok(refused.includes(Number(told[0])), `${role} ${path}: ${told.join(' ')}`)
      assert.deepEqual(told, await asked(none), `${role} ${path}`)
    }
  }
})
