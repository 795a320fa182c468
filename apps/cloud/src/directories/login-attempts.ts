import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { networkOf, type Seal } from '@skerry/service'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { LoginProof } from './ask-openid.ts'

/** Browsers of one network that are at identity servers at the same time. */
const OPEN_OF_NETWORK = 64
/** How long a person may take there. */
const OPEN = sql`interval '10 min'`

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const about = (state: string): string => `login attempt ${hashOf(state).toString('hex')}`

export interface LoginAttempt {
  readonly org: OrgId
  readonly provider: string
  /** The secret in the cookie of the browser. */
  readonly browser: string
  readonly returnTo: string
  readonly expected: LoginProof
}

/** Stores that a browser is sent to an identity server. `isShared`: many clients have this address. */
export async function beginAttempt(
  db: Kysely<CloudTables>,
  { org, provider, browser, returnTo, expected }: LoginAttempt,
  { address, isShared }: { readonly address: string; readonly isShared: boolean },
  close: Seal['close'],
): Promise<void> {
  const network = networkOf(address)
  const { rows } = await sql<{ open: number }>`select count(*)::integer as open from login_attempt
    where network = ${network} and began_at > clock_timestamp() - ${OPEN}`.execute(db)
  if (!isShared && (rows[0]?.open ?? 0) >= OPEN_OF_NETWORK) {
    throw new Fault('too-many', 'too many logins are in progress from this network', {
      detail: '60',
    })
  }
  await db
    .insertInto('login_attempt')
    .values({
      state_hash: hashOf(expected.state),
      org,
      provider,
      browser_hash: hashOf(browser),
      sealed: close(JSON.stringify(expected), about(expected.state)),
      return_to: returnTo,
      network,
    })
    .execute()
}

/**
 * The attempt of this state, if this browser began it at this identity server. It is deleted first: whatever comes of it, it is good
 * once.
 */
export async function takeAttempt(
  db: Kysely<CloudTables>,
  { provider, state, browser }: Readonly<Record<'provider' | 'state' | 'browser', string>>,
  open: Seal['open'],
): Promise<Pick<LoginAttempt, 'returnTo' | 'expected'> | undefined> {
  const { rows } = await sql<{
    provider: string
    browser_hash: Buffer
    sealed: Buffer
    return_to: string
    young: boolean
  }>`delete from login_attempt where state_hash = ${hashOf(state)}
    returning provider, browser_hash, sealed, return_to, began_at > clock_timestamp() - ${OPEN} as young`.execute(
    db,
  )
  const [found] = rows
  if (!found?.young || found.provider !== provider) return undefined
  if (!found.browser_hash.equals(hashOf(browser))) return undefined
  const expected = JSON.parse(open(found.sealed, about(state))) as LoginProof
  return { returnTo: found.return_to, expected }
}
