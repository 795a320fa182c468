import { Fault, retryableKinds } from '@skerry/fault'
import type { TaskId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Claim, CloudTables } from '../database/tables.ts'
import { waitReasons, type WaitReason, type WaitReasonName } from '../domain/wait-reasons.ts'

/** What a task waits for at the moment of reading. */
export interface TaskWait {
  readonly reason: WaitReasonName
  readonly words: string
  readonly next: string
  /** The task that must end first. */
  readonly behind: TaskId | null
  readonly since: string | null
  /** Attempts of the current step that failed. */
  readonly attempts: number
  readonly failure: string | null
  readonly failedAt: string | null
  readonly givesUpAt: string | null
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const utc = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** SQL for the text of a `wait`, from the table of reasons. */
const filledIn = (which: Exclude<keyof WaitReason, 'name'>): string =>
  `replace(replace(case wait.reason ${waitReasons
    .map(({ name, [which]: text }) => `when ${quoted(name)} then ${quoted(text)}`)
    .join(
      ' ',
    )} end, '{task}', coalesce(wait.behind::text, '')), '{time}', coalesce(${utc('wait.at')}, 'it joined'))`

/** SQL over the task `row` for one column of its wait; null if it does not wait. */
export const ofWait = (row: string, what: string): string =>
  `(select ${what} from task_wait(${row}.id) wait where ${row}.state in ('queued', 'running'))`

export const waitColumns = {
  reason: 'wait.reason',
  words: filledIn('words'),
  since: 'wait.since',
  attempts: 'wait.attempts',
  failure: 'wait.failure',
  givesUpAt: 'wait.gives_up_at',
} as const

/** SQL over the row `task`: its TaskWait as JSON. */
const whole = ofWait(
  'task',
  `json_build_object('reason', wait.reason, 'words', ${waitColumns.words}, 'next', ${filledIn('next')},
    'behind', wait.behind, 'since', ${utc('wait.since')}, 'attempts', wait.attempts, 'failure', wait.failure,
    'failedAt', ${utc('wait.failed_at')}, 'givesUpAt', ${utc('wait.gives_up_at')})`,
)
export const taskWait = sql<TaskWait | null>`${sql.raw(whole)}`

const FAILURE_CHARACTERS_MAX = 1000

/** The message that a Fault shows to its caller, never its cause. */
const failureText = (error: unknown): string => {
  if (!(error instanceof Fault)) return 'internal error; see the log of the cell'
  const text = error.hint === undefined ? error.message : `${error.message}; ${error.hint}`
  return text.slice(0, FAILURE_CHARACTERS_MAX)
}

/** A Fault with a specific detail has its own reason; all others are just retried. */
const reasonOf = (error: Fault): WaitReasonName => (error.detail === 'room' ? 'room' : 'retry')

/**
 * Records a failed attempt of a step that will be retried; noteWaits emits an event if it continues to fail.
 * `withinSeconds`: how long the step is retried from its first failure on.
 */
export async function recordFailedAttempt(
  db: Kysely<CloudTables>,
  { task: id, fence: number }: Claim,
  error: unknown,
  withinSeconds: number,
): Promise<void> {
  if (!(error instanceof Fault) || !retryableKinds.has(error.kind)) return
  await db
    .updateTable('task')
    .set({
      attempts: sql`attempts + 1`,
      worker_wait: reasonOf(error),
      last_failure: failureText(error),
      last_failure_at: sql`clock_timestamp()`,
      failing_since: sql`coalesce(failing_since, clock_timestamp())`,
      step_gives_up_at: sql`coalesce(step_gives_up_at, clock_timestamp() + make_interval(secs => ${withinSeconds}))`,
    })
    .from('vm')
    .whereRef('vm.id', '=', 'task.vm')
    .where('task.id', '=', id)
    .where('vm.fence', '=', number)
    .where('task.state', '=', 'running')
    .execute()
}

/** Columns that a successful step resets in the row of its task; the last failure stays readable. */
export const noFailures = {
  attempts: 0,
  failing_since: null,
  step_gives_up_at: null,
  worker_wait: null,
  wait_reason: null,
  waiting_since: null,
} as const

/** Records why a task at the head of its queue was not started. */
export async function recordDeferral(
  tx: Kysely<CloudTables>,
  id: TaskId,
  reason: 'host-limit' | 'org-limit',
): Promise<void> {
  await tx
    .updateTable('task')
    .set({ worker_wait: reason })
    .where('id', '=', id)
    .where(sql<boolean>`worker_wait is distinct from ${reason}`)
    .execute()
}

/** Emits an event with the wait reason of a task, once for as long as the reason stays the same. */
export async function noteWait(db: Kysely<CloudTables>, id: TaskId): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const found = await tx
      .selectFrom('task')
      .select(['wait_reason', taskWait.as('wait')])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!found?.wait || found.wait.reason === found.wait_reason) return
    const { reason, since } = found.wait
    const task = await tx
      .updateTable('task')
      .set({
        wait_reason: reason,
        waiting_since: sql`coalesce(${since}::timestamptz, clock_timestamp())`,
      })
      .where('id', '=', id)
      .where('state', 'in', ['queued', 'running'])
      // Another cell may have recorded it meanwhile.
      .where(sql<boolean>`wait_reason is distinct from ${reason}`)
      .returningAll()
      .executeTakeFirst()
    if (!task) return
    const what = { ...found.wait, since: task.waiting_since?.toISOString() }
    await emitEvent(tx, { kind: 'task.waiting', task, details: what })
  })
}

/** How long a task must be open before its wait becomes an event: most tasks have ended by then. */
const NOTED_AFTER_SECONDS = 3

/** Emits events for the waits of some open tasks. Returns where the next call continues; undefined at the end. */
export async function noteWaits(
  db: Kysely<CloudTables>,
  after: TaskId | undefined,
  limit: number,
): Promise<TaskId | undefined> {
  const { rows } = await sql<{ id: TaskId; isNew: boolean }>`
    select looked.id, coalesce(wait.reason is distinct from looked.wait_reason, false) as "isNew"
    from (select id, wait_reason from task where state in ('queued', 'running') and (${after ?? null}::uuid is null or id > ${after ?? null})
      and created_at < clock_timestamp() - make_interval(secs => ${NOTED_AFTER_SECONDS}) order by id limit ${limit}) looked
    left join lateral task_wait(looked.id) wait on true`.execute(db)
  for (const { id, isNew } of rows) if (isNew) await noteWait(db, id)
  return rows.length < limit ? undefined : rows.at(-1)?.id
}
