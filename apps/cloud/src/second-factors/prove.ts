import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { Clock, Seal } from '@skerry/service'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { by } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { forgiveFailures, readFailures, recordFailure } from '../tenants/login-failures.ts'
import { decideProof, type KnownFactor, type FactorProof } from './decide-proof.ts'
import type { FactorOwner } from './factor-owner.ts'
import { hasPasskeyProof, takePasskeyProof } from './passkey-proofs.ts'
import { readCode, type TypedCode } from './recovery-codes.ts'

/** Access to the second factors of all accounts. */
export interface FactorStore {
  readonly db: Kysely<CloudTables>
  readonly open: Seal['open']
  readonly clock: Clock
}

/** What a code proves for an account, and how long its codes of six digits are blocked. */
export interface ReadProof {
  readonly proof: FactorProof
  readonly isDigits: boolean
  /** In seconds. */
  readonly wait: number
}

/** What the secret is encrypted for. None of it ever changes. */
export const aboutFactor = ({ org, account, name }: FactorOwner & { readonly name: string }) =>
  `second factor ${org}/${account}/${name}`

/** Who has no account has no second factor either. It is read nevertheless, so that both take equally long. */
const NIL = '00000000-0000-0000-0000-000000000000'
const NO_ONE: FactorOwner = { org: NIL as OrgId, account: NIL as UserId }

/**
 * Wrong codes are counted for the account as well, wherever they come from: a caller who guesses them knows the password, and may have many
 * addresses.
 */
const keyOf = ({ account }: FactorOwner): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['second factor', account]))
    .digest()

/** Reads what a code would prove. It takes nothing. */
export async function readProof(
  { db, open, clock }: FactorStore,
  of: FactorOwner | undefined,
  text: string | undefined,
): Promise<ReadProof> {
  const owner = of ?? NO_ONE
  const typed = text === undefined ? undefined : readCode(text)
  const factors = await readFactors(db, owner, open)
  const isKnown = await hasCode(db, owner, typed)
  const { wait } = await readFailures(db, keyOf(owner))
  const proof = decideProof({ factors, text, typed, isKnown }, clock.now())
  return { proof, isDigits: typed?.kind === 'digits', wait }
}

async function readFactors(
  db: Kysely<CloudTables>,
  { org, account }: FactorOwner,
  open: Seal['open'],
): Promise<readonly KnownFactor[]> {
  const rows = await db
    .selectFrom('second_factor')
    .select(['id', 'name', 'sealed', 'used_step'])
    .where('org', '=', org)
    .where('account', '=', account)
    .where('confirmed', '=', true)
    .orderBy('id')
    .execute()
  return rows.map(({ id, name, sealed, used_step: usedStep }) => ({
    id,
    name,
    usedStep,
    secret: sealed ? secretIn(sealed, aboutFactor({ org, account, name }), open) : undefined,
  }))
}

/** Undefined: the key of the cells has changed. Recovery codes still count. */
function secretIn(sealed: Buffer, about: string, open: Seal['open']): Uint8Array | undefined {
  try {
    return Buffer.from(open(sealed, about), 'base64')
  } catch (error) {
    if (error instanceof Fault && error.kind === 'conflict') return undefined
    throw error
  }
}

async function hasCode(
  db: Kysely<CloudTables>,
  { org, account }: FactorOwner,
  typed: TypedCode | undefined,
): Promise<boolean> {
  if (typed?.kind === 'passkey') return hasPasskeyProof(db, { org, account }, typed.hash)
  const hash = typed?.kind === 'recovery' ? typed.hash : Buffer.alloc(32)
  const found = await db
    .selectFrom('recovery_code')
    .select('hash')
    .where('org', '=', org)
    .where('account', '=', account)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}

/** Who uses a code: for the event of a recovery code. */
type Who = FactorOwner & Pick<Principal, 'user' | 'address'>

/**
 * Takes what a code proves. Of two requests with the same code, one is let in. Returns false for a wrong or used code, which is counted.
 * Throws `second-factor` if the code is missing, and `too-many` if digits are blocked.
 */
export async function takeProof(
  { db }: Pick<FactorStore, 'db'>,
  who: Who,
  { proof, isDigits, wait }: ReadProof,
): Promise<boolean> {
  if (proof.is === 'not needed') return true
  if (proof.is === 'missing') throw codeMissing()
  if (isDigits && wait > 0) {
    throw new Fault('too-many', `too many wrong codes: retry in ${wait} s`, {
      hint: 'a recovery code is accepted at once',
      detail: String(wait),
    })
  }
  const isTaken = await take(db, who, proof)
  if (isTaken) await forgiveFailures(db, keyOf(who))
  else await recordFailure(db, keyOf(who))
  return isTaken
}

export const codeMissing = (): Fault =>
  new Fault('second-factor', 'this account has a second factor: send its code, or a recovery code')

async function take(db: Kysely<CloudTables>, who: Who, proof: FactorProof): Promise<boolean> {
  if (proof.is === 'step') {
    const { numUpdatedRows } = await db
      .updateTable('second_factor')
      .set({ used_step: proof.step, used_at: sql<Date>`clock_timestamp()` })
      .where('org', '=', who.org)
      .where('id', '=', proof.factor)
      .where('used_step', '<', proof.step)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  }
  if (proof.is === 'passkey') return takePasskeyProof(db, who, proof.hash)
  return proof.is === 'recovery' && takeRecoveryCode(db, who, proof.hash)
}

/** The code and its event are written together or not at all. */
async function takeRecoveryCode(
  db: Kysely<CloudTables>,
  { org, account, ...came }: Who,
  hash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`with taken as (
      update recovery_code set used_at = clock_timestamp()
      where org = ${org} and account = ${account} and hash = ${hash} and used_at is null
      returning org, account)
    insert into event (kind, org, details)
    select 'second-factor.recovery-used', org, ${JSON.stringify(by(came))}::jsonb
      || jsonb_build_object('left', (select count(*) from recovery_code left_over where left_over.org = taken.org
        and left_over.account = taken.account and left_over.used_at is null) - 1)
    from taken returning 1`.execute(db)
  return rows.length === 1
}

/**
 * Requires the code of a second factor from a user who is logged in. Returns whether the account has one. A wrong code is no reason to
 * log in again, so it is `forbidden`.
 */
export async function requireProof(
  store: FactorStore,
  principal: Principal,
  text: string | undefined,
): Promise<boolean> {
  const read = await readProof(store, principal, text)
  if (await takeProof(store, principal, read)) return read.proof.is !== 'not needed'
  throw new Fault('forbidden', 'the code is wrong, or it was used before', {
    hint: 'send the next code of the app, or a recovery code; in the web UI a passkey proves you too',
  })
}
