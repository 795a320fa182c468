import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import { sql, type Kysely } from 'kysely'

import { OWN_RIGHTS, withRights, type RowWithRole } from '../database/role-rights.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { beginSession } from '../tenants/logins.ts'
import { ACCESS_TOKEN, hashToken, NOTED, UNEXPIRED } from './access-token.ts'
import type { Account, CheckCredentials, LoginCredentials } from './credentials.ts'

/** What has proved a person without a password. */
export interface CompletedLogin {
  readonly address: string
  /** The identity server that the browser came back from. */
  readonly provider?: { readonly id: string; readonly name: string }
  /** The name that the identity server has for its own session. */
  readonly sid?: string | undefined
  /** The name of the passkey. */
  readonly passkey?: string
}

export interface Sessions {
  logIn(
    credentials: LoginCredentials,
    address: string,
  ): Promise<{ readonly principal: Principal; readonly token: string }>
  find(token: string): Promise<Principal | undefined>
  /** A session of a person whom an identity server or a passkey has proved. Returns its token. */
  begin(account: Pick<Account, 'id' | 'org' | 'name'>, came: CompletedLogin): Promise<string>
}

type FoundSession = Omit<Principal, 'script' | 'lacksSecondFactor' | 'rights'> &
  RowWithRole & {
    readonly script: boolean
    readonly noted: boolean
    readonly lacks: boolean
  }

/**
 * Whether the user of the session needs a second factor and has none: the rule holds for sessions that began before it too, and the first
 * factor ends it at once. API tokens need none, nor do users whom an identity server proves.
 */
export const LACKS_SECOND_FACTOR = sql<boolean>`(org.second_factor_required and account.provider is null
  and session.access_token is null and not exists (select from second_factor where second_factor.org = account.org
    and second_factor.account = account.id and second_factor.confirmed))`

/** A token expires after this idle time, or after this total lifetime. */
export const IDLE = sql`interval '30 min'`
export const LIFE = sql`interval '24 h'`
/** Tokens are stored as hashes: a reader of the table cannot log in with them. */
export function makeSessions(
  db: Kysely<CloudTables>,
  secret: () => string,
  check: CheckCredentials,
): Sessions {
  return {
    async logIn(credentials, address) {
      const found = await check(credentials, address)
      const { id, name: user, role, rights, org, accessToken, lacksSecondFactor } = found
      const token = secret()
      const orgName = credentials.org
      const begun = { hash: hashToken(token), org, account: id, accessToken: accessToken?.id }
      await beginOrRefuse(db, begun, { user, address, token: accessToken?.name })
      const principal: Principal = {
        user,
        account: id,
        org,
        orgName,
        role,
        rights,
        address,
        ...(accessToken && { script: true }),
        ...(lacksSecondFactor && { lacksSecondFactor }),
      }
      return { token, principal }
    },
    async begin({ id, org, name: user }, { address, provider, sid, passkey }) {
      const token = secret()
      const from = provider && { provider: provider.id, sid }
      const begun = { hash: hashToken(token), org, account: id, from }
      await beginOrRefuse(db, begun, { user, address, via: provider?.name, passkey })
      return token
    },
    async find(token) {
      if (token.startsWith(ACCESS_TOKEN)) return findByAccessToken(db, token)
      const hash = hashToken(token)
      const { rows } = await sql<FoundSession>`
        select account.name as user, account.id as account, account.org as org, org.name as "orgName",
          account.role as role, ${OWN_RIGHTS} as own, session.access_token is not null as script,
          session.seen_at > clock_timestamp() - ${NOTED} as noted, ${LACKS_SECOND_FACTOR} as lacks
        from session join account on account.org = session.org and account.id = session.account
          join org on org.id = session.org
          left join access_token on access_token.org = session.org and access_token.id = session.access_token
        where session.token_hash = ${hash} and session.seen_at > clock_timestamp() - ${IDLE}
          and session.began_at > clock_timestamp() - ${LIFE} and not account.disabled
          and not account.lapsed and not org.disabled and ${UNEXPIRED}`.execute(db)
      const [found] = rows
      if (!found) return undefined
      const { noted, script, lacks, ...principal } = withRights(found)
      if (!noted) {
        await sql`update session set seen_at = clock_timestamp() where token_hash = ${hash}`.execute(
          db,
        )
      }
      return {
        ...principal,
        ...(script && { script }),
        ...(lacks && { lacksSecondFactor: lacks }),
      }
    },
  }
}

async function beginOrRefuse(...given: Parameters<typeof beginSession>): Promise<void> {
  try {
    await beginSession(...given)
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('unauthenticated', 'the user or the API token was removed meanwhile')
  }
}

/** It has the current rights of its user. Its last use is stored to the minute, because scripts send many requests. */
async function findByAccessToken(
  db: Kysely<CloudTables>,
  token: string,
): Promise<Principal | undefined> {
  const { rows } = await sql<
    Omit<Principal, 'rights'> & RowWithRole & { id: string; stale: boolean }
  >`
    select account.name as user, account.id as account, account.org as org, org.name as "orgName",
      account.role as role, ${OWN_RIGHTS} as own, access_token.id as id,
      coalesce(used_at < clock_timestamp() - ${NOTED}, true) as stale
    from access_token
      join account on account.org = access_token.org and account.id = access_token.account
      join org on org.id = access_token.org
    where token_hash = ${hashToken(token)} and not account.disabled and not account.lapsed
      and not org.disabled and ${UNEXPIRED}`.execute(db)
  const [found] = rows
  if (!found) return undefined
  const { id, stale, ...principal } = withRights(found)
  if (stale) {
    await sql`update access_token set used_at = clock_timestamp() where id = ${id}`.execute(db)
  }
  return { ...principal, script: true }
}
