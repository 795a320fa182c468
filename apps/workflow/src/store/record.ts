import { sql, type Kysely } from 'kysely'

import type { ExecutionState } from '../durable/states.ts'
import type { Database, RunError, Severity, Tx, Values } from './database.ts'
import { ended, hasEnded, type ExecutionRow } from './executions.ts'

/** What a run tells of itself. It may come more than once, and late: the number says which is newer. */
export interface Report {
  /** Counted by the run itself, from 1 on. */
  readonly number: number
  readonly state?: ExecutionState
  /** Where it is: a JSON pointer into the definition, and its name for people. */
  readonly step?: { readonly place: string; readonly name: string }
  readonly steps?: readonly StepReport[]
  readonly logs?: readonly LogReport[]
  readonly interactions?: readonly InteractionReport[]
  /** Keys of interactions that nobody waits for any more. */
  readonly over?: readonly string[]
  readonly output?: unknown
  readonly error?: RunError
}

export interface StepReport {
  readonly place: string
  readonly state: 'running' | 'done' | 'failed'
}

export interface LogReport {
  /** The same line again has the same key. */
  readonly key: string
  readonly severity: Severity
  readonly summary: string
  readonly detail?: string
  readonly origin?: string
}

export interface InteractionReport {
  readonly key: string
  readonly title: string
  /** JSON Schema of the answer. */
  readonly form?: Values
}

/** So many lines are kept of one run; the last of them says that there are more. */
const LOGS_MAX = 10_000
const TEXT_MAX = 16 * 1024

/** The worker's one way to write down how a run goes. An execution that is not there any more is no error: it was deleted. */
export async function record(
  db: Kysely<Database>,
  execution: string,
  report: Report,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('execution')
      .selectAll()
      .where('id', '=', execution)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return
    await writeState(tx, row, report)
    for (const step of report.steps ?? []) await writeStep(tx, row, report.number, step)
    await writeLogs(tx, row, report.logs ?? [])
    for (const asked of report.interactions ?? []) await writeInteraction(tx, row, asked)
    const over = hasEnded({ state: report.state ?? row.state }) ? 'all' : (report.over ?? [])
    if (over === 'all' || over.length > 0) await closeInteractions(tx, row, over)
  })
}

/** What has ended stays as it ended. */
async function writeState(tx: Tx, row: ExecutionRow, report: Report): Promise<void> {
  const { number, state, step, output, error } = report
  if (hasEnded(row) || number < row.number) return
  const over = state !== undefined && ended.includes(state)
  await tx
    .updateTable('execution')
    .set({
      number,
      ...(state !== undefined && { state }),
      ...(step && { step: step.place, step_name: bounded(step.name) }),
      ...(output !== undefined && { output: JSON.stringify(output) }),
      ...(error && { error: JSON.stringify(error) }),
      ...(over && { ended_at: sql<Date>`clock_timestamp()` }),
    })
    .where('org', '=', row.org)
    .where('id', '=', row.id)
    .execute()
  if (!over) return
  await tx
    .deleteFrom('execution_secret')
    .where('org', '=', row.org)
    .where('execution', '=', row.id)
    .execute()
}

async function writeStep(
  tx: Tx,
  { org, id }: ExecutionRow,
  number: number,
  { place, state }: StepReport,
): Promise<void> {
  await tx
    .insertInto('execution_step')
    .values({ org, execution: id, place, state, number })
    .onConflict((on) =>
      on
        .columns(['org', 'execution', 'place'])
        .doUpdateSet({
          ...{ state, number, changed_at: sql<Date>`clock_timestamp()` },
          // A step that runs again was reached once more.
          times: sql<number>`execution_step.times + (excluded.state = 'running' and execution_step.state <> 'running')::integer`,
        })
        .where('execution_step.number', '<=', number),
    )
    .execute()
}

async function writeLogs(tx: Tx, row: ExecutionRow, logs: readonly LogReport[]): Promise<void> {
  const room = LOGS_MAX - row.logs
  const kept = logs.slice(0, Math.max(room - 1, 0)).map((each) => ({ ...each }))
  if (room > 0 && kept.length < logs.length) {
    kept.push({ key: 'more', severity: 'warning', summary: 'more lines than these are not kept' })
  }
  if (kept.length === 0) return
  const { org, id: execution } = row
  const { numInsertedOrUpdatedRows: written = 0n } = await tx
    .insertInto('execution_log')
    .values(
      kept.map(({ key, severity, summary, detail = '', origin = '' }) => ({
        ...{ org, execution, key, severity, origin },
        ...{ summary: bounded(summary), detail: bounded(detail) },
      })),
    )
    .onConflict((on) => on.columns(['org', 'execution', 'key']).doNothing())
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('execution')
    .set({ logs: row.logs + Number(written) })
    .where('org', '=', org)
    .where('id', '=', execution)
    .execute()
}

async function writeInteraction(
  tx: Tx,
  { org, id: execution }: ExecutionRow,
  { key, title, form }: InteractionReport,
): Promise<void> {
  await tx
    .insertInto('interaction')
    .values({
      ...{ org, execution, key, title: bounded(title) },
      form: form === undefined ? null : JSON.stringify(form),
    })
    .onConflict((on) => on.columns(['org', 'execution', 'key']).doNothing())
    .execute()
}

async function closeInteractions(
  tx: Tx,
  { org, id: execution }: ExecutionRow,
  keys: readonly string[] | 'all',
): Promise<void> {
  const open = tx
    .updateTable('interaction')
    .set({ state: 'over' })
    .where('org', '=', org)
    .where('execution', '=', execution)
    .where('state', '=', 'open')
  await (keys === 'all' ? open : open.where('key', 'in', keys)).execute()
}

/** PostgreSQL keeps no NUL in a text. */
const bounded = (text: string): string => text.replaceAll('\0', '\u{FFFD}').slice(0, TEXT_MAX)
