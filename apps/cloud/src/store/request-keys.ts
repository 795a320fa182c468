import { Fault } from '@skerry/fault'
import type { TaskId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import type { Tx } from '../world.ts'

/** Whether this very request was accepted before. */
export async function wasAccepted(
  tx: Tx,
  who: Pick<Who, 'org' | 'account'>,
  { key, bodyHash }: RequestKey,
): Promise<boolean> {
  const { rows } = await sql`select from request_key where org = ${who.org}
    and account = ${who.account} and key = ${key} and body_hash = ${bodyHash}`.execute(tx)
  return rows.length > 0
}

export interface RequestKey {
  readonly key: string
  /** Of method, address and body: the same key must mean the same request. */
  readonly bodyHash: Buffer
}

/**
 * The first thing that a request does: the id of its task, or that of the task which the same key
 * made before. One that is just being made is waited for.
 */
export async function keepRequest(
  tx: Tx,
  who: Pick<Who, 'org' | 'account'>,
  asked: RequestKey | undefined,
): Promise<{ readonly task: TaskId; readonly again: boolean }> {
  const { rows } = await sql<{ id: TaskId }>`select uuid_v7() as id`.execute(tx)
  const task = rows[0]?.id as TaskId
  if (!asked) return { task, again: false }
  const made = await tx
    .insertInto('request_key')
    .values({ org: who.org, account: who.account, key: asked.key, body_hash: asked.bodyHash, task })
    .onConflict((conflict) => conflict.doNothing())
    .returning('task')
    .executeTakeFirst()
  if (made) return { task, again: false }
  const before = await tx
    .selectFrom('request_key')
    .select(['task', 'body_hash'])
    .where('org', '=', who.org)
    .where('account', '=', who.account)
    .where('key', '=', asked.key)
    .executeTakeFirstOrThrow()
  if (before.body_hash.equals(asked.bodyHash)) return { task: before.task, again: true }
  throw new Fault('conflict', `the key ${asked.key} was used for another request`, {
    hint: 'choose a new key for a new request',
  })
}
