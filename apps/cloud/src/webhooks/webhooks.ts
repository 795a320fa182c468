// The webhooks of an organisation, as its administrators see and change them. Sending is in send-webhooks.ts.
import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent, endOfEvents, isAfter, type EventCursor } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { SYSTEM_ROLE } from '../domain/roles.ts'
import { orConflict } from '../tenants/accounts.ts'
import { SYSTEM } from '../tenants/tenants.ts'

export type WebhookRow = Selectable<CloudTables['webhook']>
export type DeliveryRow = Selectable<CloudTables['webhook_delivery']>

/** A webhook with what happened to its last messages. */
export interface WholeWebhook {
  readonly webhook: WebhookRow
  /** Events after the last that its receiver took, counted up to `BEHIND_MOST`. */
  readonly behind: number
  readonly deliveries: readonly DeliveryRow[]
}

/** Of an organisation: enabled ones, and all. */
const most = { enabled: 10, all: 50 } as const
export const BEHIND_MOST = 1000
/** As long as both secrets sign. */
const BOTH_SIGN = sql<Date>`clock_timestamp() + interval '24 hours'`
const now = sql<Date>`clock_timestamp()`

export const findWebhook = (db: Kysely<CloudTables>, id: string): Promise<WebhookRow | undefined> =>
  db.selectFrom('webhook').selectAll().where('id', '=', id).executeTakeFirst()

export async function webhooksOf(db: Kysely<CloudTables>, org: OrgId): Promise<WholeWebhook[]> {
  const rows = await db
    .selectFrom('webhook')
    .selectAll()
    .where('org', '=', org)
    .orderBy('name')
    .execute()
  const all: WholeWebhook[] = []
  for (const webhook of rows) {
    all.push({ webhook, behind: await countBehind(db, webhook), deliveries: [] })
  }
  return all
}

export const wholeWebhook = async (
  db: Kysely<CloudTables>,
  webhook: WebhookRow,
): Promise<WholeWebhook> => ({
  webhook,
  behind: await countBehind(db, webhook),
  deliveries: await db
    .selectFrom('webhook_delivery')
    .selectAll()
    .where('org', '=', webhook.org)
    .where('webhook', '=', webhook.id)
    .orderBy('id', 'desc')
    .execute(),
})

async function countBehind(db: Kysely<CloudTables>, { org, tx, seq }: WebhookRow): Promise<number> {
  const { rows } = await sql<{ behind: number }>`select count(*)::integer as behind from (
      select from event where (tx, seq) > (${tx}::xid8, ${seq}::bigint)
        and tx < pg_snapshot_xmin(pg_current_snapshot())
        and (org = ${org} or (select name from org where id = ${org}) = ${SYSTEM})
      limit ${BEHIND_MOST}) found`.execute(db)
  return rows[0]?.behind ?? 0
}

/** What the secret is encrypted for. Neither ever changes. */
const aboutSecret = ({ org, name }: Pick<WebhookRow, 'org' | 'name'>): string =>
  `webhook ${org}/${name}`

/** The secrets that sign at this time, the newest first. */
export function secretsOf(
  webhook: Pick<WebhookRow, 'org' | 'name' | 'sealed' | 'sealed_before' | 'before_until'>,
  at: Date,
  open: (sealed: Buffer, about: string) => string,
): readonly string[] {
  const { sealed, sealed_before: before, before_until: until } = webhook
  const opened = (each: Buffer): string | undefined => {
    try {
      return open(each, aboutSecret(webhook))
    } catch (error) {
      if (error instanceof Fault) return undefined
      throw error
    }
  }
  const secret = opened(sealed)
  if (secret === undefined) {
    throw new Fault(
      'conflict',
      'its secret cannot be decrypted: the key of the cells has changed',
      {
        hint: `replace it: skerry webhook set ${webhook.name} --new-secret`,
      },
    )
  }
  const isBoth = before !== null && until !== null && until > at
  const other = isBoth ? opened(before) : undefined
  return other === undefined ? [secret] : [secret, other]
}

/** What an administrator decides about a webhook. */
export interface WebhookSettings {
  readonly url: string
  readonly kinds: readonly string[]
  /** undefined: as it was, or enabled. */
  readonly enabled: boolean | undefined
}

export interface NewWebhook extends WebhookSettings {
  readonly name: string
}

type CloseSeal = (text: string, about: string) => Buffer
/** A new secret, and how it is encrypted. */
export interface Secret {
  readonly secret: string
  readonly close: CloseSeal
}

/** It gets the events from now on. */
export async function addWebhook(
  tx: Tx,
  principal: Principal,
  org: OrgId,
  { name, url, kinds, enabled = true }: NewWebhook,
  { secret, close }: Secret,
): Promise<WholeWebhook> {
  await requireAllowed(tx, principal, org)
  await requireRoom(tx, org, { adds: true, enables: enabled })
  const { tx: at, seq } = await endOfEvents(tx)
  const webhook = await orConflict(`webhook ${name} already exists`, () =>
    tx
      .insertInto('webhook')
      .values({
        org,
        name,
        url,
        kinds: [...kinds],
        sealed: close(secret, aboutSecret({ org, name })),
        disabled: enabled ? null : 'asked',
        tx: at,
        seq,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  const details = { ...by(principal), name, host: new URL(url).host, kinds }
  await emitEvent(tx, { kind: 'webhook.added', org, details })
  return { webhook, behind: 0, deliveries: [] }
}

/** A webhook of the organisation System gets the events of all organisations. */
async function requireAllowed(tx: Tx, { role }: Principal, org: OrgId): Promise<void> {
  if (role === SYSTEM_ROLE) return
  const { rows } = await sql<{ name: string }>`select name from org where id = ${org}`.execute(tx)
  if (rows[0]?.name !== SYSTEM) return
  throw new Fault('forbidden', `only a ${SYSTEM_ROLE} can change webhooks of ${SYSTEM}`)
}

/** Counted one request after the other. Tenants have no right to lock the row of their organisation. */
async function requireRoom(
  tx: Tx,
  org: OrgId,
  { adds, enables }: { readonly adds: boolean; readonly enables: boolean },
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('webhooks'), hashtext(${org}::text))`.execute(tx)
  const { rows } = await sql<{ all: number; enabled: number }>`
    select count(*)::integer as all, count(*) filter (where disabled is null)::integer as enabled
    from webhook where org = ${org}`.execute(tx)
  const [found = { all: 0, enabled: 0 }] = rows
  if (enables && found.enabled >= most.enabled) {
    throw new Fault('conflict', `an organisation can have at most ${most.enabled} enabled webhooks`)
  }
  if (adds && found.all >= most.all) {
    throw new Fault('conflict', `an organisation can have at most ${most.all} webhooks`)
  }
}

/** Nothing that was sent before the change counts after it: the claim of a cell that sends now has ended. */
const begunAgain = {
  attempts: 0,
  failing_since: null,
  next_at: now,
  behind: true,
  claim: sql<string>`claim + 1`,
  lease_until: sql<Date>`'-infinity'`,
}

/** Replaces the settings. A disabled webhook that is enabled continues where it stopped. */
export async function changeWebhook(
  tx: Tx,
  principal: Principal,
  { org, id, name, disabled }: WebhookRow,
  { url, kinds, enabled }: WebhookSettings,
): Promise<WholeWebhook> {
  await requireAllowed(tx, principal, org)
  if (enabled === true && disabled !== null)
    await requireRoom(tx, org, { adds: false, enables: true })
  const webhook = await tx
    .updateTable('webhook')
    .set({
      ...begunAgain,
      url,
      kinds: [...kinds],
      ...(enabled === true && { disabled: null }),
      ...(enabled === false && { disabled: 'asked', ...stopped }),
    })
    .where('org', '=', org)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow(deletedMeanwhile)
  const isSwitched = enabled === undefined ? {} : { disabled: !enabled }
  const details = { ...by(principal), name, host: new URL(url).host, kinds, ...isSwitched }
  await emitEvent(tx, { kind: 'webhook.changed', org, details })
  return wholeWebhook(tx, webhook)
}

/** Of a webhook that had sent everything: what it misses begins now. */
export const stopped = {
  reached: sql<Date>`case when behind then reached else clock_timestamp() end`,
}

const deletedMeanwhile = (): Fault => new Fault('not-found', 'the webhook was deleted meanwhile')

/** The secret before it signs for a day, too, so that the receiver can be given the new one. */
export async function replaceSecret(
  tx: Tx,
  principal: Principal,
  row: WebhookRow,
  { secret, close }: Secret,
): Promise<WholeWebhook> {
  const { org, id, name } = row
  await requireAllowed(tx, principal, org)
  const webhook = await tx
    .updateTable('webhook')
    .set({
      sealed: close(secret, aboutSecret(row)),
      sealed_before: sql<Buffer>`sealed`,
      before_until: BOTH_SIGN,
      next_at: now,
    })
    .where('org', '=', org)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow(deletedMeanwhile)
  const details = { ...by(principal), name, secret: 'replaced' }
  await emitEvent(tx, { kind: 'webhook.changed', org, details })
  return wholeWebhook(tx, webhook)
}

/** Sends everything from this event on again, as new messages. */
export async function resendFrom(
  tx: Tx,
  principal: Principal,
  row: WebhookRow,
  from: EventCursor,
): Promise<WholeWebhook> {
  const { org, id, name } = row
  await requireAllowed(tx, principal, org)
  const before = { tx: from.tx, seq: String(BigInt(from.seq) - (from.seq === '0' ? 0n : 1n)) }
  const kept = await findWebhook(tx, id)
  if (!kept) throw deletedMeanwhile()
  if (isAfter(before, kept)) {
    throw new Fault('conflict', 'this event was not sent yet', {
      hint: 'the webhook continues by itself; name the first event of one of its deliveries',
    })
  }
  const webhook = await tx
    .updateTable('webhook')
    .set({ ...begunAgain, ...before, round: sql<number>`round + 1` })
    .where('org', '=', org)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow(deletedMeanwhile)
  await emitEvent(tx, { kind: 'webhook.resent', org, details: { ...by(principal), name } })
  return wholeWebhook(tx, webhook)
}

export async function deleteWebhook(
  tx: Tx,
  principal: Principal,
  { org, id, name }: WebhookRow,
): Promise<void> {
  await requireAllowed(tx, principal, org)
  await tx
    .deleteFrom('webhook')
    .where('org', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(deletedMeanwhile)
  await emitEvent(tx, { kind: 'webhook.removed', org, details: { ...by(principal), name } })
}
