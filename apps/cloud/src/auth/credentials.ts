import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { networkOf, type BasicCredentials, type Clock, type Seal } from '@skerry/service'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { readRights } from '../database/role-rights.ts'
import type { CloudTables } from '../database/tables.ts'
import { arrive } from '../directories/arrive.ts'
import { provePerson } from '../directories/ask-directory.ts'
import { accessTo } from '../directories/identity-providers.ts'
import { refusalText, type DirectoryRefusal } from '../directories/refusals.ts'
import type { RoleRights } from '../domain/roles.ts'
import { readProof, takeProof, type FactorStore } from '../second-factors/prove.ts'
import { forgiveFailures, readFailures, recordFailure } from '../tenants/login-failures.ts'
import { emitRefusedLogin } from '../tenants/logins.ts'
import { hashToken, isAccessToken, NOTED, UNEXPIRED } from './access-token.ts'
import { CheckQueue, directoryBounds, type CheckQueueOptions } from './check-queue.ts'
import { verifyPassword } from './password.ts'

/** An account whose credentials were right. */
interface ProvedAccount {
  readonly id: UserId
  readonly org: OrgId
  /** As it is stored, which may differ from what was typed. */
  readonly name: string
  readonly role: string
  /** The API token that was given instead of a password. */
  readonly accessToken?: { readonly id: string; readonly name: string }
  /** The organisation requires a second factor, and the account has none. */
  readonly lacksSecondFactor?: true
}

/** With the rights that its role has now. */
export type Account = ProvedAccount & RoleRights

export interface LoginCredentials extends BasicCredentials {
  /** The code of a second factor, or a recovery code. */
  readonly code?: string | undefined
}

/**
 * Returns the account of these credentials; throws if they are wrong, or were tried too often from this address, or if only the code of the
 * second factor is missing.
 */
export type CheckCredentials = (credentials: LoginCredentials, address: string) => Promise<Account>

/** Directories ignore case and spaces of a name, and some ignore accents: each way to write it would allow more guesses. */
const folded = (user: string): string =>
  user
    .normalize('NFKD')
    .replaceAll(/[\s\p{M}\p{Cf}]/gu, '')
    .toLowerCase()

/** One account as seen from one network: wrong guesses there do not lock it for others. */
const keyOf = ({ user, org }: BasicCredentials, address: string): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([org, folded(user), networkOf(address)]))
    .digest()

export interface CheckOptions extends Omit<CheckQueueOptions, 'bounds'> {
  /** Decrypts the passwords of identity servers' readers, and the secrets of second factors. */
  readonly open: Seal['open']
  /** For codes of second factors, which depend on the time. */
  readonly clock: Clock
}

/** `spare`: a hash without a known password, for accounts that do not exist. */
export function makeCheck(
  db: Kysely<CloudTables>,
  spare: string,
  { open, clock, ...options }: CheckOptions,
): CheckCredentials {
  const queue = new CheckQueue(options)
  // One for the users of each identity server, and one for names that are looked up in several: one that hangs holds up no other login.
  const queues = new Map<string, CheckQueue>()
  const queueOf = (servers: readonly IdentityServer[]): CheckQueue => {
    if (servers.length === 0) return queue
    const ids = servers.map(({ id }) => id).join(' ')
    const known = queues.get(ids)
    const found = known ?? new CheckQueue({ ...options, bounds: directoryBounds })
    queues.set(ids, found)
    return found
  }
  return async (credentials, address) => {
    const key = keyOf(credentials, address)
    const proof = await proofOf(db, credentials)
    const account = await queueOf(proof.servers).take(address, async () => {
      const { wait, any } = await readFailures(db, key)
      // Also with the right password: otherwise the response would reveal that it is right.
      if (wait > 0) throw tooMany(wait)
      const given = { spare, open, clock, address }
      const found = await check(db, credentials, proof, given)
      if (!found || 'why' in found) {
        await recordFailure(db, key)
        await emitRefusedLogin(db, { ...credentials, address, why: found?.why })
      } else if (any) await forgiveFailures(db, key)
      return found
    })
    if (account && !('why' in account)) {
      return { ...account, ...(await readRights(db, account.org, account.role)) }
    }
    const why = account && refusalText(account.why, account.server)
    const wrong =
      credentials.code === undefined
        ? 'user, organisation or password is wrong'
        : 'user, organisation, password or code is wrong'
    throw new Fault('unauthenticated', why ?? wrong)
  }
}

type IdentityServer = Selectable<CloudTables['identity_provider']>

/** What proves a user: a token, the password of an account, or one of these identity servers. */
interface KindOfProof {
  readonly account?: LocalAccount | undefined
  readonly servers: readonly IdentityServer[]
}

interface LocalAccount {
  readonly id: UserId
  readonly org: OrgId
  readonly name: string
  readonly role: string
  readonly password: string | null
  readonly disabled: boolean
  readonly provider: string | null
  /** Whether its organisation requires a second factor of it. */
  readonly required: boolean
}

/** An account has one proof. A name without an account is looked up at the identity servers of its organisation. */
async function proofOf(
  db: Kysely<CloudTables>,
  { user, org, password }: BasicCredentials,
): Promise<KindOfProof> {
  if (isAccessToken(password)) return { servers: [] }
  const account = await db
    .selectFrom('account')
    .innerJoin('org', 'org.id', 'account.org')
    .select(['account.id', 'account.org', 'account.name', 'account.role', 'account.password'])
    .select(['account.disabled', 'account.provider', 'org.second_factor_required as required'])
    .where('org.name', '=', org)
    .where('account.name', '=', user)
    .where('org.disabled', '=', false)
    .executeTakeFirst()
  if (account && account.provider === null) return { account, servers: [] }
  const all = db
    .selectFrom('identity_provider')
    .innerJoin('org', 'org.id', 'identity_provider.org')
    .selectAll('identity_provider')
    .where('org.name', '=', org)
    .where('org.disabled', '=', false)
    .where('identity_provider.disabled', '=', false)
    // Passwords of people whom others prove in the browser never come here.
    .where('identity_provider.kind', '=', 'ldap')
    .orderBy('identity_provider.name')
  const provider = account?.provider
  const servers = provider ? all.where('identity_provider.id', '=', provider) : all
  return { account, servers: await servers.execute() }
}

/** The account of these credentials, if they are right and it is enabled. */
async function check(
  db: Kysely<CloudTables>,
  credentials: LoginCredentials,
  { account, servers }: KindOfProof,
  given: CheckGiven,
): Promise<ProvedAccount | RefusedAccount | undefined> {
  const { spare, open } = given
  const { user, password } = credentials
  if (isAccessToken(password)) return accountOfToken(db, credentials)
  for (const server of servers) {
    const proof = await provePerson(accessTo(server, open), user, password)
    if (proof === 'unknown') continue
    if (proof === 'wrong') return undefined
    if ('refusal' in proof) return { why: proof.refusal, server: server.name }
    const arrived = await arrive(db, server, proof.person)
    // The name may belong to another person now.
    return account && arrived?.id !== account.id ? undefined : arrived
  }
  if (servers.length > 0) return undefined
  // A missing account takes as much time as an existing one, and a wrong password as much as a wrong code.
  const store = { db, ...given }
  const of = account && { org: account.org, account: account.id }
  const read = await readProof(store, of, credentials.code)
  const right = await verifyPassword(password, account?.password ?? spare)
  if (!right || !account?.password || account.disabled) return undefined
  const who = { org: account.org, account: account.id, user: account.name, address: given.address }
  if (!(await takeProof(store, who, read))) return undefined
  const { id, org, name, role, required } = account
  const found = { id, org, name, role }
  return required && read.proof.is === 'not needed' ? { ...found, lacksSecondFactor: true } : found
}

/** A directory refuses the user, and names a reason. */
interface RefusedAccount {
  readonly why: DirectoryRefusal
  /** The name of the identity server. */
  readonly server: string
}

interface CheckGiven extends Omit<FactorStore, 'db'> {
  /** A hash without a known password. */
  readonly spare: string
  readonly address: string
}

/** The account of this API token, if it is that of these names: the token of another user is as wrong as an unknown one. */
async function accountOfToken(
  db: Kysely<CloudTables>,
  { user, org, password }: BasicCredentials,
): Promise<ProvedAccount | undefined> {
  const { rows } = await sql<
    Omit<ProvedAccount, 'accessToken'> & { token: string; token_name: string; stale: boolean }
  >`
    select account.id as id, account.org as org, account.name as name, account.role as role,
      access_token.id as token, access_token.name as token_name, coalesce(used_at < clock_timestamp() - ${NOTED}, true) as stale
    from access_token
      join account on account.org = access_token.org and account.id = access_token.account
      join org on org.id = access_token.org
    where token_hash = ${hashToken(password)} and account.name = ${user} and org.name = ${org}
      and not account.disabled and not account.lapsed and not org.disabled and ${UNEXPIRED}`.execute(
    db,
  )
  const [found] = rows
  if (!found) return undefined
  const { token, token_name: name, stale, ...account } = found
  if (stale) {
    await sql`update access_token set used_at = clock_timestamp() where id = ${token}`.execute(db)
  }
  return { ...account, accessToken: { id: token, name } }
}

const tooMany = (seconds: number): Fault =>
  new Fault('too-many', `too many wrong passwords: retry in ${seconds} s`, {
    detail: String(seconds),
  })
