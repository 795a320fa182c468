// Threat: an attacker runs statements on a connection of a cell, a workflow server or a console (SQL injection, a stolen login)
// and tries to get more than that server has: another role, tables of others, another database, the database's disk. Method: a
// real PostgreSQL with passwords and an owner that is not a superuser. Each login that our programs create tries all of it.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { startPostgres, type Postgres } from '@skerry/lab'
import { keepLogins, openDatabase, scramVerifier, urlFor } from '@skerry/postgres'
import { Client } from 'pg'

import { prepareLogins, prepareTables } from '../../apps/cloud/src/command-line/prepare-tables.ts'
import { actingAs, cellLogins } from '../../apps/cloud/src/database/acting-as.ts'
import { serverLogins } from '../../apps/workflow/src/store/acting-as.ts'
import {
  prepareLogins as prepareWorkflowLogins,
  prepareTables as prepareWorkflowTables,
} from '../../apps/workflow/src/store/open-store.ts'

const OWNER_PASSWORD = 'owner'
/** The statements that a database administrator runs once: docs/guides/own-machines.md. */
const byAdministrator =
  'revoke execute on function lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea) from public'

interface Attacker {
  readonly name: string
  readonly database: string
  readonly url: string
  /** Its only role. */
  readonly role: string
}

let dir = ''
let postgres: Postgres
const attackers: Attacker[] = []

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'attack-database-'))
  postgres = await startPostgres(join(dir, 'postgres'), { durable: false })
  await postgres.psql(`create role skerry login createrole password '${OWNER_PASSWORD}'`)
  for (const name of ['cloud', 'workflow', 'second_cloud']) {
    await postgres.psql(`create database ${name} owner skerry`)
    await postgres.psql(byAdministrator, name)
  }
  await postgres.psql('revoke connect on database postgres, template1 from public')
  await requirePasswords()
  await makeLogins()
})
after(async () => {
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

/** From here on logins other than the superuser need their passwords. */
async function requirePasswords(): Promise<void> {
  const lines = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256']
  await writeFile(await postgres.psql('show hba_file'), `${lines.join('\n')}\n`)
  await postgres.psql('select pg_reload_conf()')
}

const ownerOf = (database: string) => urlFor(postgres.urlOf(database), 'skerry', OWNER_PASSWORD)

async function makeLogins(): Promise<void> {
  for (const database of ['cloud', 'second_cloud']) {
    const url = ownerOf(database)
    await prepareTables({ database: url })
    const logins = cellLogins({ database: url, cell: 'cell-1' }, `key of ${database}`)
    await prepareLogins({ database: url, logins })
    // A restarted cell.
    await prepareLogins({ database: url, logins })
    if (database !== 'cloud') continue
    for (const [role, login] of Object.entries(logins)) {
      attackers.push({ name: `the cell as ${role}`, database, url: login.url, role })
    }
  }
  const owner = openDatabase({ url: ownerOf('cloud'), applicationName: 'test', size: 1 })
  const [name, role] = ['skerry_console_test', 'skerry_console']
  await keepLogins(owner, [{ name, role, verifier: scramVerifier('word', Buffer.alloc(16)) }])
  await owner.destroy()
  const console = urlFor(postgres.urlOf('cloud'), name, 'word')
  attackers.push({ name: 'a console', database: 'cloud', url: console, role })
  const url = ownerOf('workflow')
  await prepareWorkflowTables(url)
  const logins = serverLogins({ database: url, name: 'workflow-1' }, 'key')
  await prepareWorkflowLogins(url, logins)
  for (const [acting, login] of Object.entries(logins)) {
    const as = { role: acting, url: login.url, database: 'workflow' }
    attackers.push({ ...as, name: `the workflow server as ${acting}` })
  }
}

/** Logs in, and returns the SQLSTATE of the error for each statement, or nothing if it succeeded. */
async function attack(
  url: string,
  work: (tries: (...statements: string[]) => Promise<string | undefined>) => Promise<void>,
): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await work(async (...statements) => {
      await client.query('reset role')
      return codeOf(async () => {
        for (const each of statements) await client.query(each)
      })
    })
  } finally {
    await client.end()
  }
}

async function codeOf(work: () => Promise<unknown>): Promise<string | undefined> {
  return work().then(
    () => undefined,
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  )
}

/** The SQLSTATE of a rejected connection. */
const refusal = async (url: string) => codeOf(() => attack(url, async () => undefined))

const DENIED = '42501'

test('every login has one role, and no statement gives it another', async () => {
  const roles = (await postgres.psql(`select rolname from pg_roles where rolname !~ '^pg_'`)).split(
    '\n',
  )
  assert.ok(roles.includes('skerry_tenant') && roles.includes('skerry'))
  for (const { name, url, role } of attackers) {
    const own = decodeURIComponent(new URL(url).username)
    const others = roles.filter((each) => each !== role && each !== own)
    assert.ok(others.length >= 8)
    await attack(url, async (tries) => {
      assert.equal(await tries(`set role ${role}`), undefined, name)
      for (const other of others) {
        assert.equal(await tries(`set role "${other}"`), DENIED, `${name}: ${other}`)
        // After a change to its login role, there is nothing more.
        const back = await tries(`set role ${role}`, 'set role none', `set role "${other}"`)
        assert.equal(back, DENIED, `${name}: ${other}`)
        assert.equal(await tries(`set session authorization "${other}"`), DENIED, name)
      }
    })
  }
})

test('the tenants’ connection sees no row of all organisations after set role none', async () => {
  await postgres.psql(`insert into org (name) values ('one'), ('two')`, 'cloud')
  await postgres.psql(
    `insert into vdc (org, name) select id, 'vdc' from org where name in ('one', 'two')`,
    'cloud',
  )
  const tenant = attackers.find(({ role }) => role === 'skerry_tenant')
  assert.ok(tenant)
  const changes = ['select 1', 'set role none', 'reset role', 'reset all', 'set row_security = off']
  await attack(actingAs(tenant.url, 'skerry_tenant'), async (tries) => {
    for (const change of changes) {
      // A division by zero if there is a row.
      const seen = await tries(
        change,
        'select 1 / (count(*) - count(*)) from vdc having count(*) > 0',
      )
      assert.ok(seen === undefined || seen === DENIED, `${change}: ${seen}`)
    }
  })
})

test('a console reads no table, and no login reads another role’s tables', async () => {
  const console = attackers.find(({ role }) => role === 'skerry_console')
  assert.ok(console)
  const tables = (
    await postgres.psql(`select tablename from pg_tables where schemaname = 'public'`, 'cloud')
  ).split('\n')
  assert.ok(tables.length > 20)
  await attack(console.url, async (tries) => {
    for (const table of tables) {
      assert.equal(await tries(`select 1 from "${table}" limit 1`), DENIED, table)
    }
  })
  for (const { name, url, role } of attackers) {
    await attack(url, async (tries) => {
      const never = ['pg_authid', 'migration']
      const system = ['host', 'invitation', 'login_failure', 'console_machine']
      for (const table of role === 'skerry_tenant' ? [...never, ...system] : never) {
        assert.equal(await tries(`select 1 from ${table}`), DENIED, `${name}: ${table}`)
      }
    })
  }
})

test('no login can connect to another database', async () => {
  for (const { name, url, database } of attackers) {
    for (const other of ['cloud', 'workflow', 'second_cloud', 'postgres', 'template1']) {
      const at = new URL(url)
      at.pathname = `/${other}`
      const expected = other === database ? undefined : DENIED
      assert.equal(await refusal(at.href), expected, `${name}: ${other}`)
    }
  }
})

test('no login fills the disk: no temporary tables, large objects, tables or files', async () => {
  const statements = [
    'create temp table t (x int)',
    'create table t (x int)',
    'create schema s',
    'select lo_create(0)',
    'select lo_creat(-1)',
    `select lo_from_bytea(0, 'x')`,
    `copy (select 1) to '/tmp/attack'`,
    `copy (select 1) to program 'true'`,
    `select pg_read_file('PG_VERSION')`,
    'create role thief',
    'create database thief',
  ]
  for (const { name, url } of attackers) {
    await attack(url, async (tries) => {
      for (const each of statements) assert.equal(await tries(each), DENIED, `${name}: ${each}`)
    })
  }
})

test('a console that was created before the database was restricted can still connect', async () => {
  const [name, database] = ['skerry_console_older', ownerOf('second_cloud')]
  await postgres.psql(`create role ${name} login password 'word' in role skerry_console`)
  const console = urlFor(postgres.urlOf('second_cloud'), name, 'word')
  assert.equal(await refusal(console), DENIED)
  const row = `insert into console_machine (name, host, login) values ('k', 'h', '${name}')`
  await postgres.psql(row, 'second_cloud')
  await prepareLogins({ database, logins: cellLogins({ database, cell: 'cell-2' }, 'key') })
  assert.equal(await refusal(console), undefined)
})

test('a login without its password is rejected', async () => {
  for (const { name, url } of attackers) {
    const wrong = new URL(url)
    wrong.password = 'guess'
    assert.equal(await refusal(wrong.href), '28P01', name)
  }
})
