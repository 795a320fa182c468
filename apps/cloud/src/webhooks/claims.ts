// Which cell sends for a webhook: a claim with a number and a lease. All times are of the database, so clocks of cells do not matter.
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { SYSTEM } from '../tenants/tenants.ts'
import { LONGEST_WAIT_MS } from './decide-delivery.ts'
import type { WebhookRow } from './webhooks.ts'

/** Twice what a receiver may take to answer. Each message renews it. */
export const LEASE = sql`interval '30 seconds'`
/** A time further ahead was written before the clock of the database was set back: it has come. */
const AHEAD_MOST = sql`make_interval(secs => ${(LONGEST_WAIT_MS / 1000) * 2})`

export interface ClaimedWebhook {
  readonly webhook: WebhookRow
  /** Of the organisation System, which gets the events of all. */
  readonly everywhere: boolean
  /** Whether it may have missed events before: it was behind already. */
  readonly wasBehind: boolean
  /** Whether its cursor is of a time that a restore of the database has undone. */
  readonly isAhead: boolean
  /** By the clock of the database. */
  readonly at: Date
}

/** What a cell noticed since its last look. */
export interface Noticed {
  /** Organisations with new events. */
  readonly orgs: readonly OrgId[]
  /** Organisations for which this cell sends enough already. */
  readonly busy: readonly OrgId[]
}

const isLeased = sql<boolean>`(webhook.lease_until > clock_timestamp() and webhook.lease_until < clock_timestamp() + ${LEASE} * 2)`
const waits = sql<boolean>`(webhook.next_at > clock_timestamp() and webhook.next_at < clock_timestamp() + ${AHEAD_MOST})`

const noticedIn = (orgs: readonly OrgId[]) =>
  orgs.length === 0
    ? sql<boolean>`false`
    : sql<boolean>`(webhook.org = any(${[...orgs]}::uuid[]) or org.name = ${SYSTEM})`

/** Whether there is anything to do at all; most clouds have no webhooks. */
export async function hasWebhooks(db: Kysely<CloudTables>): Promise<boolean> {
  const { rows } = await sql`select from webhook where disabled is null limit 1`.execute(db)
  return rows.length > 0
}

/** A cell that starts does not know what happened before: each webhook is looked at once. */
export async function expectAll(db: Kysely<CloudTables>): Promise<void> {
  await sql`update webhook set behind = true where not behind and disabled is null`.execute(db)
}

/** Of these organisations, those whose webhooks another claim holds at this moment: they have to be looked at again. */
export async function heldOrgs(
  db: Kysely<CloudTables>,
  orgs: readonly OrgId[],
): Promise<readonly OrgId[]> {
  if (orgs.length === 0) return []
  const { rows } = await sql<{ org: OrgId }>`
    select distinct webhook.org from webhook join org on org.id = webhook.org
    where webhook.disabled is null and ${isLeased} and ${noticedIn(orgs)}`.execute(db)
  return rows.map(({ org }) => org)
}

/** Takes a webhook that may have something to send. Two cells never take the same one. */
export async function claimWebhook(
  db: Kysely<CloudTables>,
  { orgs, busy }: Noticed,
): Promise<ClaimedWebhook | undefined> {
  const { rows } = await sql<WebhookRow & Omit<ClaimedWebhook, 'webhook'>>`
    with free as (
      select webhook.org, webhook.id, webhook.behind, org.name = ${SYSTEM} as everywhere
      from webhook join org on org.id = webhook.org
      where webhook.disabled is null and not org.disabled and not ${isLeased} and not ${waits}
        and (webhook.behind or ${noticedIn(orgs)}) and webhook.org <> all(${[...busy]}::uuid[])
      order by webhook.next_at limit 1 for update of webhook skip locked)
    update webhook set claim = claim + 1, behind = true, lease_until = clock_timestamp() + ${LEASE}
    from free where webhook.org = free.org and webhook.id = free.id
    returning webhook.*, free.everywhere, free.behind as "wasBehind", clock_timestamp() as at,
      webhook.tx >= pg_snapshot_xmax(pg_current_snapshot()) as "isAhead"`.execute(db)
  const [found] = rows
  if (!found) return undefined
  const { everywhere, wasBehind, isAhead, at, ...webhook } = found
  return { webhook, everywhere, wasBehind, isAhead, at }
}

type ClaimKey = Pick<WebhookRow, 'org' | 'id' | 'claim'>

/** There is nothing more to send. False: the claim has ended meanwhile. */
export async function rest(
  db: Kysely<CloudTables>,
  { org, id, claim }: ClaimKey,
): Promise<boolean> {
  const { rows } = await sql`update webhook
    set behind = false, reached = clock_timestamp(), lease_until = '-infinity'
    where org = ${org} and id = ${id} and claim = ${claim} returning id`.execute(db)
  return rows.length > 0
}

/** Another one's turn; this one goes on later, here or at another cell. */
export async function release(
  db: Kysely<CloudTables>,
  { org, id, claim }: ClaimKey,
  restMs = 0,
): Promise<void> {
  const next = sql`clock_timestamp() + make_interval(secs => ${restMs / 1000})`
  await sql`update webhook set next_at = ${next}, lease_until = '-infinity'
    where org = ${org} and id = ${id} and claim = ${claim}`.execute(db)
}
