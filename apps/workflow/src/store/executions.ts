import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { ExecutionState } from '../durable/states.ts'
import type { Who } from '../identity/rights.ts'
import type { Database, Tx, Values } from './database.ts'
import { jsonText } from './json-text.ts'
import type { WorkflowRow } from './workflows.ts'

export type ExecutionRow = Selectable<Database['execution']>
export type StepRow = Pick<Selectable<Database['execution_step']>, 'place' | 'state' | 'times'>

export const ended: readonly ExecutionState[] = ['completed', 'failed', 'canceled']
export const hasEnded = ({ state }: Pick<ExecutionRow, 'state'>): boolean => ended.includes(state)

export interface NewExecution {
  readonly id: string
  readonly workflow: Pick<WorkflowRow, 'org' | 'id' | 'name' | 'version' | 'digest'>
  /** Secrets are left out of it. */
  readonly input: Values
  readonly secrets: ReadonlyMap<string, Buffer>
  readonly requestKey: string | undefined
  /** How many of an organisation may go on at once. */
  readonly most: number
}

/**
 * Writes down that a run was asked for, before anything is started: whoever looks at what was left (`unstarted`) starts it. The same
 * request again is the same execution, and `made` says so.
 */
export async function addExecution(
  tx: Tx,
  who: Who,
  { id, workflow, input, secrets, requestKey, most }: NewExecution,
): Promise<{ readonly execution: ExecutionRow; readonly made: boolean }> {
  const { org } = workflow
  const known = requestKey === undefined ? undefined : await findByKey(tx, who, org, requestKey)
  if (known) return { execution: sameRequest(known, workflow), made: false }
  await requireRoom(tx, org, most)
  try {
    const execution = await tx
      .insertInto('execution')
      .values({
        ...{ org, id, workflow: workflow.id, name: workflow.name, digest: workflow.digest },
        ...{ version: workflow.version, account: who.account, account_name: who.user },
        ...{ input: jsonText(input), request_key: requestKey ?? null },
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    for (const [name, sealed] of secrets) {
      await tx.insertInto('execution_secret').values({ org, execution: id, name, sealed }).execute()
    }
    return { execution, made: true }
  } catch (error) {
    if (brokenConstraint(error) !== 'execution_request') throw error
    throw new Fault('conflict', 'the same request is being answered at this moment', {
      cause: error,
      hint: 'ask again in a second',
    })
  }
}

const findByKey = async (tx: Tx, { account }: Who, org: WorkflowRow['org'], key: string) =>
  tx
    .selectFrom('execution')
    .selectAll()
    .where('org', '=', org)
    .where('account', '=', account)
    .where('request_key', '=', key)
    .executeTakeFirst()

function sameRequest(known: ExecutionRow, workflow: Pick<WorkflowRow, 'id'>): ExecutionRow {
  if (known.workflow === workflow.id) return known
  throw new Fault('conflict', 'this Idempotency-Key was used for another workflow before')
}

async function requireRoom(tx: Tx, org: WorkflowRow['org'], most: number): Promise<void> {
  const open = await tx
    .selectFrom('execution')
    .select('id')
    .where('org', '=', org)
    .where('state', 'not in', ended)
    .limit(most)
    .execute()
  if (open.length < most) return
  throw new Fault('too-many', `${most} runs of this organisation go on already`, {
    hint: 'wait until one has ended, or cancel one',
  })
}

export async function findExecution(
  db: Kysely<Database>,
  id: string,
): Promise<ExecutionRow | undefined> {
  return db.selectFrom('execution').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. `before`: the one that the page before ended with. */
export async function listExecutions(
  db: Kysely<Database>,
  { org, id }: Pick<WorkflowRow, 'org' | 'id'>,
  { before, limit }: Readonly<{ before: string | undefined; limit: number }>,
): Promise<ExecutionRow[]> {
  const found = db
    .selectFrom('execution')
    .selectAll()
    .where('org', '=', org)
    .where('workflow', '=', id)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (before === undefined) return found.execute()
  return found
    .where(
      sql<boolean>`(started_at, id) < (select e.started_at, e.id from execution e where e.org = ${org} and e.id = ${before})`,
    )
    .execute()
}

export async function countExecutions(
  db: Kysely<Database>,
  { org, id }: Pick<WorkflowRow, 'org' | 'id'>,
): Promise<number> {
  const { count } = await db
    .selectFrom('execution')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('org', '=', org)
    .where('workflow', '=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The newest of everything that the asker sees. */
export async function recentExecutions(
  db: Kysely<Database>,
  limit: number,
): Promise<ExecutionRow[]> {
  return db
    .selectFrom('execution')
    .selectAll()
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export async function listSteps(
  db: Kysely<Database>,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
): Promise<StepRow[]> {
  return db
    .selectFrom('execution_step')
    .select(['place', 'state', 'times'])
    .where('org', '=', org)
    .where('execution', '=', id)
    .orderBy('place')
    .execute()
}

/** What the cloud has given it to act with. The first one counts, and is answered. */
export async function keepGrant(
  db: Kysely<Database>,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
  grant: string,
): Promise<string> {
  const { kept } = await db
    .updateTable('execution')
    .set({ grant_id: sql<string>`coalesce(grant_id, ${grant})` })
    .where('org', '=', org)
    .where('id', '=', id)
    .returning(sql<string>`grant_id`.as('kept'))
    .executeTakeFirstOrThrow()
  return kept
}

/** It was asked to end: told again to Temporal by whoever finds it so, until it has. */
export async function markCanceled(
  tx: Tx,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
): Promise<void> {
  await tx
    .updateTable('execution')
    .set({ cancel: true })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('state', 'not in', ended)
    .execute()
}

/** Nothing of it is told any more. Only of one that has ended. */
export async function deleteExecution(
  tx: Tx,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
): Promise<void> {
  await tx
    .deleteFrom('execution')
    .where('org', '=', org)
    .where('id', '=', id)
    .where('state', 'in', ended)
    .execute()
}

/** It never ran, or nobody knows any more how it went on. */
export async function failExecution(
  db: Kysely<Database>,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
  detail: string,
): Promise<void> {
  const error = { title: 'the run could not go on', detail }
  await db
    .updateTable('execution')
    .set({
      ...{ state: 'failed', error: jsonText(error) },
      ended_at: sql<Date>`clock_timestamp()`,
    })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('state', 'not in', ended)
    .execute()
  await db
    .deleteFrom('execution_secret')
    .where('org', '=', org)
    .where('execution', '=', id)
    .execute()
}
