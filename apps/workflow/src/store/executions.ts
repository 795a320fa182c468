import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import type { ExecutionState } from '@skerry/serverless-workflow'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { WorkflowPrincipal } from '../identity/rights.ts'
import type { WorkflowTables, WorkflowTx, RunValues } from './database.ts'
import { jsonText } from './json-text.ts'
import type { WorkflowRow } from './workflows.ts'

export type ExecutionRow = Selectable<WorkflowTables['execution']>
export type StepRow = Pick<
  Selectable<WorkflowTables['execution_step']>,
  'place' | 'state' | 'times'
>

export const ended: readonly ExecutionState[] = ['completed', 'failed', 'canceled']
export const hasEnded = ({ state }: Pick<ExecutionRow, 'state'>): boolean => ended.includes(state)

export interface NewExecution {
  readonly id: string
  readonly workflow: Pick<WorkflowRow, 'org' | 'id' | 'name' | 'version' | 'digest'>
  /** Without secrets. */
  readonly input: RunValues
  readonly secrets: ReadonlyMap<string, Buffer>
  readonly requestKey: string | undefined
  /** The maximum number of concurrent runs of an organisation. */
  readonly most: number
}

/**
 * Records a requested run before it is started; if a crash prevents the start, `listUnstarted` finds it. A repeated request returns
 * the same execution with `made` false.
 */
export async function addExecution(
  tx: WorkflowTx,
  principal: WorkflowPrincipal,
  { id, workflow, input, secrets, requestKey, most }: NewExecution,
): Promise<{ readonly execution: ExecutionRow; readonly made: boolean }> {
  const { org } = workflow
  const known =
    requestKey === undefined ? undefined : await findByKey(tx, principal, org, requestKey)
  if (known) return { execution: sameRequest(known, workflow), made: false }
  await requireRoom(tx, org, most)
  try {
    const execution = await tx
      .insertInto('execution')
      .values({
        org,
        id,
        workflow: workflow.id,
        name: workflow.name,
        digest: workflow.digest,
        version: workflow.version,
        account: principal.account,
        account_name: principal.user,
        input: jsonText(input),
        request_key: requestKey ?? null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    for (const [name, sealed] of secrets) {
      await tx.insertInto('execution_secret').values({ org, execution: id, name, sealed }).execute()
    }
    return { execution, made: true }
  } catch (error) {
    if (brokenConstraint(error) !== 'execution_request') throw error
    throw new Fault('conflict', 'the same request is already in progress', {
      cause: error,
      hint: 'try again in a second',
    })
  }
}

const findByKey = async (
  tx: WorkflowTx,
  { account }: WorkflowPrincipal,
  org: WorkflowRow['org'],
  key: string,
) =>
  tx
    .selectFrom('execution')
    .selectAll()
    .where('org', '=', org)
    .where('account', '=', account)
    .where('request_key', '=', key)
    .executeTakeFirst()

function sameRequest(known: ExecutionRow, workflow: Pick<WorkflowRow, 'id'>): ExecutionRow {
  if (known.workflow === workflow.id) return known
  throw new Fault('conflict', 'this Idempotency-Key was already used for another workflow')
}

async function requireRoom(tx: WorkflowTx, org: WorkflowRow['org'], most: number): Promise<void> {
  const open = await tx
    .selectFrom('execution')
    .select('id')
    .where('org', '=', org)
    .where('state', 'not in', ended)
    .limit(most)
    .execute()
  if (open.length < most) return
  throw new Fault('too-many', `this organisation already has ${most} active runs`, {
    hint: 'wait until a run ends, or cancel one',
  })
}

export async function findExecution(
  db: Kysely<WorkflowTables>,
  id: string,
): Promise<ExecutionRow | undefined> {
  return db.selectFrom('execution').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. `before`: the last run of the previous page. */
export async function listExecutions(
  db: Kysely<WorkflowTables>,
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
  db: Kysely<WorkflowTables>,
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

/** The newest runs that the caller can see. */
export async function recentExecutions(
  db: Kysely<WorkflowTables>,
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
  db: Kysely<WorkflowTables>,
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

/**
 * Stores the run's grant unless it has one, and returns the stored one. Throws `gone` if the run was ended meanwhile, because the
 * grant came too late: such a run must not start.
 */
export async function keepGrant(
  db: Kysely<WorkflowTables>,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
  grant: string,
): Promise<string> {
  const { kept } = await db
    .updateTable('execution')
    .set({ grant_id: sql<string>`coalesce(grant_id, ${grant})` })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('state', 'not in', ended)
    .returning(sql<string>`grant_id`.as('kept'))
    .executeTakeFirstOrThrow(
      () => new Fault('gone', 'the run was ended before it could start', { hint: 'start another' }),
    )
  return kept
}

/** The grant of a run has the id of the run; the ids of earlier versions are found by `listGranted`. */
export async function markGrantEnded(db: Kysely<WorkflowTables>, id: string): Promise<void> {
  await db.updateTable('execution').set({ grant_ended: true }).where('id', '=', id).execute()
}

/** Requests cancellation. It is repeated to Temporal until the run has ended. */
export async function markCanceled(
  tx: WorkflowTx,
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

/** Deletes a run that has ended. */
export async function deleteExecution(
  tx: WorkflowTx,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
): Promise<void> {
  await tx
    .deleteFrom('execution')
    .where('org', '=', org)
    .where('id', '=', id)
    .where('state', 'in', ended)
    .execute()
}

/** Marks a run as failed that never started or whose outcome is unknown. */
export async function failExecution(
  db: Kysely<WorkflowTables>,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
  detail: string,
): Promise<void> {
  const error = { title: 'the run could not continue', detail }
  await db
    .updateTable('execution')
    .set({
      state: 'failed',
      error: jsonText(error),
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
