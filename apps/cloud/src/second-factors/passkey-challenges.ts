import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { networkOf } from '@skerry/service'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { FactorOwner } from './factor-owner.ts'

/** Challenges of one network at the same time. */
const OPEN_OF_NETWORK = 64
/** How long a person may take. */
export const CHALLENGE_SECONDS = 300
const OPEN = sql`make_interval(secs => ${sql.lit(CHALLENGE_SECONDS)})`

const hashOf = (secret: string | Buffer): Buffer => createHash('sha256').update(secret).digest()

/** Who adds a passkey. */
export interface Adding extends FactorOwner {
  /** Whether they have another second factor, and have proved it. */
  readonly isProved: boolean
}

export interface PasskeyChallenge {
  /** 256 random bits, as base64url. */
  readonly challenge: string
  /** The secret in the cookie of the browser. */
  readonly browser: string
  /** undefined: a passkey that exists is asked for. */
  readonly adding?: Adding
}

/** `isShared`: many clients have this address. */
export async function beginChallenge(
  db: Kysely<CloudTables>,
  { challenge, browser, adding }: PasskeyChallenge,
  { address, isShared }: { readonly address: string; readonly isShared: boolean },
): Promise<void> {
  const network = networkOf(address)
  const { rows } = await sql<{
    open: number
  }>`select count(*)::integer as open from passkey_challenge
    where network = ${network} and began_at > clock_timestamp() - ${OPEN}`.execute(db)
  if (!isShared && (rows[0]?.open ?? 0) >= OPEN_OF_NETWORK) {
    throw new Fault('too-many', 'too many logins are in progress from this network', {
      detail: '60',
    })
  }
  await db
    .insertInto('passkey_challenge')
    .values({
      challenge_hash: hashOf(Buffer.from(challenge, 'base64url')),
      browser_hash: hashOf(browser),
      ...(adding && { org: adding.org, account: adding.account, proved: adding.isProved }),
      network,
    })
    .execute()
}

/** What a browser has brought back. */
export interface AnsweredChallenge {
  readonly challenge: Buffer
  readonly browser: string
}

interface TakenChallenge {
  readonly adding: Adding | undefined
}

/** Whether this browser was given this challenge, and who adds a passkey with it. It is deleted first: whatever comes of it, it is good once. */
export async function takeChallenge(
  db: Kysely<CloudTables>,
  { challenge, browser }: AnsweredChallenge,
): Promise<TakenChallenge | undefined> {
  const found = await db
    .deleteFrom('passkey_challenge')
    .where('challenge_hash', '=', hashOf(challenge))
    .returning(['browser_hash', 'org', 'account', 'proved'])
    .returning(sql<boolean>`began_at > clock_timestamp() - ${OPEN}`.as('young'))
    .executeTakeFirst()
  if (!found?.young || !found.browser_hash.equals(hashOf(browser))) return undefined
  const { org, account, proved: isProved } = found
  return { adding: org && account ? { org, account, isProved } : undefined }
}
