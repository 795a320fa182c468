// Logins with one role each: an attacker who injects SQL cannot switch to another role.
import { createHash, createHmac } from 'node:crypto'

import { sql, type Kysely, type Transaction } from 'kysely'

import { scramVerifier } from './scram.ts'

/** A login that is a member of one role and of no other. */
export interface Login {
  readonly name: string
  readonly role: string
  /** The SCRAM verifier of its password. */
  readonly verifier: string
}

/** A login and its connection URL. */
export interface OwnLogin extends Login {
  readonly url: string
}

export interface LoginOptions<Role extends string> {
  /** The URL of the database owner. */
  readonly url: string
  /** The server that connects. */
  readonly server: string
  readonly role: Role
  /** A constant secret of that server. Its password is derived from it, so that it is still valid after a database restore. */
  readonly key: string
}

/** The longest name that PostgreSQL accepts. */
const NAME_MAX = 63
const DIGEST_LENGTH = 12
const SALT_BYTES = 16

/** Roles belong to the whole cluster, so the name contains the database too. */
function nameOf({ url, server, role }: Omit<LoginOptions<string>, 'key'>): string {
  const database = decodeURIComponent(new URL(url).pathname.slice(1))
  const whole = `${role}:${database}:${server}`
  if (Buffer.byteLength(whole) <= NAME_MAX && /^[\x20-\x7e]*$/.test(whole)) return whole
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, DIGEST_LENGTH)
  return `${role}:${digest}`
}

/** The login of a server for one role. The same options give the same login. */
export function ownLogin<Role extends string>(options: LoginOptions<Role>): OwnLogin {
  const name = nameOf(options)
  const derive = (what: string) =>
    createHmac('sha256', options.key).update(`${what} of the database login ${name}`).digest()
  const password = derive('password').toString('base64url')
  const verifier = scramVerifier(password, derive('salt').subarray(0, SALT_BYTES))
  return { name, role: options.role, verifier, url: urlFor(options.url, name, password) }
}

/** The URL of the same database for another login. */
export function urlFor(database: string, login: string, password: string): string {
  const url = new URL(database)
  url.username = encodeURIComponent(login)
  url.password = password
  for (const own of ['user', 'password', 'options']) url.searchParams.delete(own)
  return url.href
}

/**
 * Creates logins, and closes the database to all others: no one else can connect, and no one can create temporary tables or large
 * objects. Needs the owner of the database with CREATEROLE. `also`: existing logins that keep their passwords. Several servers may
 * call it at once.
 */
export async function keepLogins<DB>(
  owner: Kysely<DB>,
  logins: readonly Login[],
  also: readonly string[] = [],
): Promise<void> {
  await owner.transaction().execute(async (tx) => {
    // Concurrent changes of the same row of the system catalog would be an error for one of them.
    await sql`select pg_advisory_xact_lock(hashtextextended('skerry logins', 0))`.execute(tx)
    for (const login of logins) await keepLogin(tx, login)
    await closeDatabase(tx, [...logins.map(({ name }) => name), ...also])
    await closeLargeObjects(tx)
  })
}

async function keepLogin<DB>(tx: Transaction<DB>, { name, role, verifier }: Login): Promise<void> {
  const { rows } = await sql`select from pg_roles where rolname = ${name}`.execute(tx)
  const verb = sql.raw(rows.length === 0 ? 'create' : 'alter')
  await sql`${verb} role ${sql.id(name)} login password ${sql.lit(verifier)}`.execute(tx)
  const { rows: member } = await sql<{ yes: boolean }>`
    select pg_has_role(${name}, ${role}, 'member') as yes`.execute(tx)
  if (member[0]?.yes !== true) await sql`grant ${sql.id(role)} to ${sql.id(name)}`.execute(tx)
}

/** The owner may always connect. A database with another owner is left unchanged. */
async function closeDatabase<DB>(tx: Transaction<DB>, names: readonly string[]): Promise<void> {
  const { rows } = await sql<{ name: string; ours: boolean; open: boolean }>`
    select datname as name, pg_has_role(datdba, 'usage') as ours,
      has_database_privilege('public', oid, 'connect') or has_database_privilege('public', oid, 'temporary') as open
    from pg_database where datname = current_database()`.execute(tx)
  const [database] = rows
  if (!database?.ours) return
  const id = sql.id(database.name)
  const { rows: outside } = await sql<{ name: string }>`
    select rolname as name from pg_roles
    where rolname = any(${names}) and (${database.open} or not has_database_privilege(oid, current_database(), 'connect'))
    order by 1`.execute(tx)
  for (const { name } of outside) {
    await sql`grant connect on database ${id} to ${sql.id(name)}`.execute(tx)
  }
  if (database.open) {
    await sql`revoke connect, temporary on database ${id} from public`.execute(tx)
  }
}

/** Only a superuser can revoke these functions: if the owner is not one, the creator of the database must have done it. */
async function closeLargeObjects<DB>(tx: Transaction<DB>): Promise<void> {
  const { rows } = await sql<{ signature: string }>`
    select p.oid::regprocedure::text as signature from pg_proc p
    where p.oid in ('lo_creat(int)'::regprocedure, 'lo_create(oid)'::regprocedure, 'lo_from_bytea(oid,bytea)'::regprocedure)
      and has_function_privilege('public', p.oid, 'execute')
      and (select rolsuper from pg_roles where rolname = current_user)`.execute(tx)
  for (const { signature } of rows) {
    await sql`revoke execute on function ${sql.raw(signature)} from public`.execute(tx)
  }
}
