import { Fault } from '@skerry/fault'
import type { TaskId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Principal } from '../domain/authorize.ts'
import type { Tx } from './tables.ts'

/** Whether the same request was accepted before. */
export async function wasAccepted(
  tx: Tx,
  principal: Pick<Principal, 'org' | 'account'>,
  { key, bodyHash }: RequestKey,
): Promise<boolean> {
  const { rows } = await sql`select from request_key where org = ${principal.org}
    and account = ${principal.account} and key = ${key} and body_hash = ${bodyHash}`.execute(tx)
  return rows.length > 0
}

export interface RequestKey {
  readonly key: string
  /** Hash of method, address and body: the same key must mean the same request. */
  readonly bodyHash: Buffer
}

/**
 * The first step of a request: returns the id for its task, or the id of the task that the same key created
 * before. Waits for a concurrent request with the same key.
 */
export async function keepRequest(
  tx: Tx,
  principal: Pick<Principal, 'org' | 'account'>,
  requested: RequestKey,
): Promise<{ readonly task: TaskId; readonly again: boolean; readonly made?: string | null }> {
  const made = await tx
    .insertInto('request_key')
    .values({
      org: principal.org,
      account: principal.account,
      key: requested.key,
      body_hash: requested.bodyHash,
      task: sql<TaskId>`uuid_v7()`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('task')
    .executeTakeFirst()
  if (made) return { task: made.task, again: false }
  const before = await tx
    .selectFrom('request_key')
    .select(['task', 'body_hash', 'made'])
    .where('org', '=', principal.org)
    .where('account', '=', principal.account)
    .where('key', '=', requested.key)
    .executeTakeFirstOrThrow()
  const { task, made: name, body_hash: hash } = before
  if (hash.equals(requested.bodyHash)) return { task, again: true, made: name }
  throw new Fault(
    'conflict',
    `the idempotency key ${requested.key} was used for a different request`,
    {
      hint: 'use a new key for a new request',
    },
  )
}

/** Makes something that has no task, and returns its name. A repeated request returns the same name, and makes nothing. */
export async function makeOnce(
  tx: Tx,
  principal: Pick<Principal, 'org' | 'account'>,
  requested: RequestKey | undefined,
  make: () => Promise<string>,
): Promise<string> {
  if (!requested) return make()
  const { again, made: before } = await keepRequest(tx, principal, requested)
  if (again && typeof before === 'string') return before
  const made = await make()
  await tx
    .updateTable('request_key')
    .set({ made })
    .where('org', '=', principal.org)
    .where('account', '=', principal.account)
    .where('key', '=', requested.key)
    .execute()
  return made
}
