import { sql } from 'kysely'

import { ACCESS_TOKEN, hashToken, IDLE, LIFE, NOTED } from '../identity/sessions.ts'
import type { Tx } from '../world.ts'

/**
 * Whether what an answer that goes on was asked with is still worth anything: a feed ends with its session. An open one
 * counts as activity, which is written down once a minute.
 */
export async function isStillIn(tx: Tx, token: string): Promise<boolean> {
  const hash = hashToken(token)
  if (token.startsWith(ACCESS_TOKEN)) {
    const { rows } = await sql`select from access_token
        join account on account.org = access_token.org and account.id = access_token.account
        join org on org.id = access_token.org
      where token_hash = ${hash} and not account.disabled and not org.disabled`.execute(tx)
    return rows.length > 0
  }
  const { rows } = await sql<{ stale: boolean }>`
    select session.seen_at < clock_timestamp() - ${NOTED} as stale from session
      join account on account.org = session.org and account.id = session.account
      join org on org.id = session.org
    where token_hash = ${hash} and not account.disabled and not org.disabled
      and session.seen_at > clock_timestamp() - ${IDLE}
      and session.began_at > clock_timestamp() - ${LIFE}`.execute(tx)
  if (rows[0]?.stale) {
    await sql`update session set seen_at = clock_timestamp() where token_hash = ${hash}`.execute(tx)
  }
  return rows.length > 0
}
