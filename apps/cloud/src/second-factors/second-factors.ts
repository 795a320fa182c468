// The second factors of a user, as the user and administrators see and change them. What a code proves is in prove.ts.
import { Fault } from '@skerry/fault'
import { sql, type Insertable, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import { readRights } from '../database/role-rights.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import { requireRightsOf, type Principal } from '../domain/authorize.ts'
import { orConflict } from '../tenants/accounts.ts'
import type { AccountRow } from '../tenants/tenants.ts'
import type { FactorOwner } from './factor-owner.ts'
import { aboutFactor, codeMissing } from './prove.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import { stepOf } from './totp.ts'

export type SecondFactorRow = Omit<
  Selectable<CloudTables['second_factor']>,
  'sealed' | 'credential' | 'public_key' | 'counter'
>

/** What a user has, and what the organisation requires. */
export interface WholeFactors {
  readonly factors: readonly SecondFactorRow[]
  readonly recoveryCodesLeft: number
  readonly isRequired: boolean
}

/** Of a user. */
const MOST = 5
/** One that is not confirmed ends after this time. */
const UNCONFIRMED = sql`interval '15 min'`
const isCurrent = sql<boolean>`(confirmed or made_at > clock_timestamp() - ${UNCONFIRMED})`
const columns = [
  'org',
  'id',
  'account',
  'kind',
  'name',
  'used_step',
  'confirmed',
  'made_at',
  'used_at',
] as const

const ofUser = (db: Kysely<CloudTables>, { org, account }: FactorOwner) =>
  db
    .selectFrom('second_factor')
    .where('org', '=', org)
    .where('account', '=', account)
    .where(isCurrent)

const factorsOf = (db: Kysely<CloudTables>, owner: FactorOwner): Promise<SecondFactorRow[]> =>
  ofUser(db, owner).select(columns).orderBy('id').execute()

export const findSecondFactor = (
  db: Kysely<CloudTables>,
  owner: FactorOwner,
  id: string,
): Promise<SecondFactorRow | undefined> =>
  ofUser(db, owner).select(columns).where('id', '=', id).executeTakeFirst()

export async function wholeFactors(
  db: Kysely<CloudTables>,
  owner: FactorOwner,
): Promise<WholeFactors> {
  const { org, account } = owner
  const { left } = await db
    .selectFrom('recovery_code')
    .select(sql<number>`count(*)::integer`.as('left'))
    .where('org', '=', org)
    .where('account', '=', account)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  const rule = await db
    .selectFrom('account')
    .innerJoin('org', 'org.id', 'account.org')
    .select(sql<boolean>`org.second_factor_required and account.provider is null`.as('required'))
    .where('account.org', '=', org)
    .where('account.id', '=', account)
    .executeTakeFirst()
  return {
    factors: await factorsOf(db, owner),
    recoveryCodesLeft: left,
    // A run for another organisation has its user elsewhere.
    isRequired: rule?.required ?? false,
  }
}

/** Deletes those that were not confirmed in time, of one user or of all. Returns their number. */
export async function dropUnconfirmed(db: Kysely<CloudTables>, of?: FactorOwner): Promise<number> {
  const over = db
    .deleteFrom('second_factor')
    .where('confirmed', '=', false)
    .where('made_at', '<=', sql<Date>`clock_timestamp() - ${UNCONFIRMED}`)
  const wanted = of ? over.where('org', '=', of.org).where('account', '=', of.account) : over
  const { numDeletedRows } = await wanted.executeTakeFirst()
  return Number(numDeletedRows)
}

/** Scripts and workflow runs change no second factor: they would outlast the password of a person. */
export function requirePerson({ script, grant }: Principal): void {
  if (script === undefined && grant === undefined) return
  throw new Fault('forbidden', 'an API token or a workflow run cannot change second factors', {
    hint: 'log in with a password',
  })
}

/** Locks the account, so that concurrent changes of its second factors come one after the other. */
async function lockAccount(tx: Tx, { org, account }: FactorOwner): Promise<void> {
  const row = await tx
    .selectFrom('account')
    .select('provider')
    .where('org', '=', org)
    .where('id', '=', account)
    .forUpdate()
    .executeTakeFirst()
  if (row && row.provider === null) return
  throw new Fault(
    'conflict',
    'an identity server proves this user, who has no second factor here',
    {
      hint: 'add one at the identity server',
    },
  )
}

interface NewFactor {
  readonly name: string
  /** Whether the request had the code of a second factor. */
  readonly isProved: boolean
}

export interface NewApp extends NewFactor {
  readonly secret: Uint8Array
  readonly close: (text: string, about: string) => Buffer
}

export interface NewPasskey extends NewFactor {
  readonly credential: Buffer
  /** DER. */
  readonly publicKey: Buffer
  readonly counter: number
}

export async function addSecondFactor(
  tx: Tx,
  principal: Principal,
  { name, secret, close, isProved }: NewApp,
): Promise<SecondFactorRow> {
  const { org, account } = principal
  await requireRoom(tx, principal, isProved)
  const sealed = close(Buffer.from(secret).toString('base64'), aboutFactor({ org, account, name }))
  const made = await insertFactor(tx, { org, account, name, sealed })
  await emitFactorEvent(tx, principal, 'made', { name })
  return made
}

/** It counts at once. Returns the recovery codes, if it is the first second factor of the account. */
export async function addPasskey(
  tx: Tx,
  principal: Principal,
  { name, credential, publicKey, counter, isProved }: NewPasskey,
  newCodes: () => readonly string[],
): Promise<readonly string[]> {
  const { org, account } = principal
  await requireRoom(tx, principal, isProved)
  const kind = 'passkey' as const
  const parts = { kind, credential, public_key: publicKey, counter: String(counter) }
  const { id } = await insertFactor(tx, { org, account, name, ...parts, confirmed: true })
  await emitFactorEvent(tx, principal, 'made', { name, kind })
  return codesOfFirst(tx, principal, id, newCodes)
}

/** Locks the account, which may have another factor: a user who has one already proves it. */
async function requireRoom(tx: Tx, owner: FactorOwner, isProved: boolean): Promise<void> {
  await lockAccount(tx, owner)
  await dropUnconfirmed(tx, owner)
  const known = await factorsOf(tx, owner)
  if (!isProved && known.some(({ confirmed }) => confirmed)) throw codeMissing()
  if (known.length < MOST) return
  throw new Fault('conflict', `a user can have at most ${MOST} second factors`, {
    hint: 'remove one that is not used; one that is not confirmed ends after 15 minutes',
  })
}

const insertFactor = (
  tx: Tx,
  row: Insertable<CloudTables['second_factor']>,
): Promise<SecondFactorRow> =>
  orConflict(`second factor ${row.name} already exists`, () =>
    tx.insertInto('second_factor').values(row).returning(columns).executeTakeFirstOrThrow(),
  )

const emitFactorEvent = (
  tx: Tx,
  principal: Principal,
  what: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  emitEvent(tx, {
    kind: `second-factor.${what}`,
    org: principal.org,
    details: { ...by(principal), ...details },
  })

export interface Confirmation {
  /** The digits that were typed. */
  readonly code: string
  readonly now: Date
  readonly open: (sealed: Buffer, about: string) => string
  /** Used if the account has no recovery codes yet. */
  readonly newCodes: () => readonly string[]
}

/** A code shows that the app has the secret. Returns the recovery codes, if it is the first of the account. */
export async function confirmSecondFactor(
  tx: Tx,
  principal: Principal,
  { id }: SecondFactorRow,
  { code, now, open, newCodes }: Confirmation,
): Promise<readonly string[]> {
  const { org, account } = principal
  await lockAccount(tx, principal)
  const found = await ofUser(tx, principal).selectAll().where('id', '=', id).executeTakeFirst()
  if (!found) throw new Fault('not-found', 'this second factor has ended: add it again')
  const { name, sealed, used_step: used } = found
  // A passkey is confirmed from the beginning, and has no secret here.
  if (found.confirmed || !sealed) {
    throw new Fault('conflict', 'this second factor is already confirmed')
  }
  const secret = Buffer.from(open(sealed, aboutFactor({ org, account, name })), 'base64')
  const step = stepOf(secret, code.replaceAll(/\s/g, ''), now, used)
  if (step === undefined) {
    throw new Fault('invalid', 'the code is wrong', {
      hint: 'send the one that the app shows now, and compare the clock of its device',
    })
  }
  await tx
    .updateTable('second_factor')
    .set({ confirmed: true, used_step: step, used_at: sql<Date>`clock_timestamp()` })
    .where('org', '=', org)
    .where('id', '=', id)
    .execute()
  await emitFactorEvent(tx, principal, 'confirmed', { name })
  return codesOfFirst(tx, principal, id, newCodes)
}

/** Recovery codes, if there was no confirmed second factor before this one. */
async function codesOfFirst(
  tx: Tx,
  { org, account }: FactorOwner,
  id: string,
  newCodes: () => readonly string[],
): Promise<readonly string[]> {
  const others = (await factorsOf(tx, { org, account })).filter((each) => each.id !== id)
  if (others.some(({ confirmed }) => confirmed)) return []
  // They were added without a code, perhaps by somebody else.
  await tx
    .deleteFrom('second_factor')
    .where('org', '=', org)
    .where('account', '=', account)
    .where('confirmed', '=', false)
    .execute()
  return writeRecoveryCodes(tx, { org, account }, newCodes())
}

async function writeRecoveryCodes(
  tx: Tx,
  { org, account }: FactorOwner,
  codes: readonly string[],
): Promise<readonly string[]> {
  await deleteRecoveryCodes(tx, { org, account })
  const rows = codes.map((code) => ({ org, account, hash: hashRecoveryCode(code) }))
  await tx.insertInto('recovery_code').values(rows).execute()
  return codes
}

const deleteRecoveryCodes = (tx: Tx, { org, account }: FactorOwner) =>
  tx.deleteFrom('recovery_code').where('org', '=', org).where('account', '=', account).execute()

/** Earlier codes count no more. */
export async function replaceRecoveryCodes(
  tx: Tx,
  principal: Principal,
  codes: readonly string[],
): Promise<readonly string[]> {
  await lockAccount(tx, principal)
  const known = await factorsOf(tx, principal)
  if (!known.some(({ confirmed }) => confirmed)) throw noFactor()
  await emitFactorEvent(tx, principal, 'recovery-replaced')
  return writeRecoveryCodes(tx, principal, codes)
}

export const noFactor = (): Fault =>
  new Fault('invalid', 'the account has no second factor', { hint: 'add one first' })

/** With the last one, the recovery codes go. */
export async function dropSecondFactor(
  tx: Tx,
  principal: Principal,
  { id, name }: SecondFactorRow,
  isProved: boolean,
): Promise<void> {
  const { org } = principal
  await lockAccount(tx, principal)
  const gone = await tx
    .deleteFrom('second_factor')
    .where('org', '=', org)
    .where('id', '=', id)
    .returning('confirmed')
    .executeTakeFirst()
  // Another request was faster.
  if (!gone) return
  if (gone.confirmed && !isProved) throw codeMissing()
  const others = await factorsOf(tx, principal)
  if (!others.some(({ confirmed }) => confirmed)) await deleteRecoveryCodes(tx, principal)
  await emitFactorEvent(tx, principal, 'removed', { name })
}

/** By an administrator, for a user who has lost them: all second factors and recovery codes. */
export async function removeSecondFactors(
  tx: Tx,
  principal: Principal,
  { org, id: account, name: user, role }: AccountRow,
): Promise<void> {
  requireRightsOf(principal, await readRights(tx, org, role))
  if (account === principal.account) {
    throw new Fault('conflict', 'your own second factors are removed with a code of theirs', {
      hint: 'or ask another administrator',
    })
  }
  const gone = await tx
    .deleteFrom('second_factor')
    .where('org', '=', org)
    .where('account', '=', account)
    .returning('name')
    .execute()
  await deleteRecoveryCodes(tx, { org, account })
  if (gone.length === 0) return
  const names = gone.map(({ name }) => name).toSorted()
  await emitEvent(tx, {
    kind: 'second-factor.removed',
    org,
    details: { ...by(principal), user, names },
  })
}
