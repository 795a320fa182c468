import { sql, type Kysely } from 'kysely'

import type { AskNote, Progress, StepNote } from '../durable/verbs.ts'
import type { Database, Severity, StepState, Tx } from './database.ts'
import { ended, hasEnded, type ExecutionRow } from './executions.ts'
import { jsonText, keptText } from './json-text.ts'

/** So many lines are kept of one run; the last of them says that there were more. */
const LOGS_MAX = 10_000
const TEXT_MAX = 16 * 1024

/**
 * The worker's one way to write down how a run goes. What is told again, or late, is known by its number and changes nothing. An
 * execution that is not there any more is no error: it was deleted.
 */
export async function record(db: Kysely<Database>, progress: Progress): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('execution')
      .selectAll()
      .where('id', '=', progress.execution)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return
    const steps = progress.steps.filter(({ number }) => number > row.number)
    const late = steps.length === 0 && progress.steps.length > 0
    if (!late && !hasEnded(row)) await writeState(tx, row, progress)
    for (const step of lastOfEach(steps)) await writeStep(tx, row, step)
    await writeLogs(tx, row, steps)
    if (!late) for (const ask of progress.asks) await writeAsk(tx, row, ask)
    if (hasEnded(progress)) await closeAll(tx, row)
  })
}

/** What has ended stays as it ended. */
async function writeState(tx: Tx, row: ExecutionRow, progress: Progress): Promise<void> {
  const { state, steps, output, error } = progress
  const last = steps.at(-1)
  const over = ended.includes(state)
  await tx
    .updateTable('execution')
    .set({
      ...{ state, number: Math.max(row.number, last?.number ?? 0) },
      ...(last && { step: bounded(last.place), step_name: bounded(last.name) }),
      ...(output !== undefined && { output: jsonText(output) }),
      ...(error && { error: jsonText(error) }),
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

const stateOf: Readonly<Record<StepNote['what'], StepState>> = {
  began: 'running',
  again: 'running',
  ended: 'done',
  skipped: 'skipped',
  failed: 'failed',
  canceled: 'canceled',
}

const severityOf: Readonly<Record<StepNote['what'], Severity>> = {
  began: 'debug',
  again: 'warning',
  ended: 'info',
  skipped: 'info',
  failed: 'error',
  canceled: 'warning',
}

function lastOfEach(steps: readonly StepNote[]): Iterable<StepNote & { readonly times: number }> {
  const found = new Map<string, StepNote & { readonly times: number }>()
  for (const step of steps) {
    const times = (found.get(step.place)?.times ?? 0) + Number(step.what === 'began')
    found.set(step.place, { ...step, times })
  }
  return found.values()
}

async function writeStep(
  tx: Tx,
  { org, id }: ExecutionRow,
  { place, what, number, times }: StepNote & { readonly times: number },
): Promise<void> {
  const state = stateOf[what]
  await tx
    .insertInto('execution_step')
    .values({ org, execution: id, place: bounded(place), state, number, times })
    .onConflict((on) =>
      on.columns(['org', 'execution', 'place']).doUpdateSet({
        ...{ state, number, changed_at: sql<Date>`clock_timestamp()` },
        times: sql<number>`execution_step.times + excluded.times`,
      }),
    )
    .execute()
}

async function writeLogs(tx: Tx, row: ExecutionRow, steps: readonly StepNote[]): Promise<void> {
  const room = LOGS_MAX - row.logs
  if (room <= 0 || steps.length === 0) return
  const { org, id: execution } = row
  const lines = steps.slice(0, room).map(({ number, at, place, name, what, text }) => ({
    ...{ org, execution, seq: number, at: new Date(at), severity: severityOf[what] },
    ...{ summary: bounded(`${name} ${what}`), detail: bounded(text ?? ''), origin: bounded(place) },
  }))
  const last = lines.at(-1)
  if (last && lines.length === room) {
    lines[lines.length - 1] = {
      ...{ ...last, severity: 'warning', detail: '' },
      summary: 'more lines than these are not kept',
    }
  }
  await tx
    .insertInto('execution_log')
    .values(lines)
    .onConflict((on) => on.columns(['org', 'execution', 'seq']).doNothing())
    .execute()
  await tx
    .updateTable('execution')
    .set({ logs: row.logs + lines.length })
    .where('org', '=', org)
    .where('id', '=', execution)
    .execute()
}

async function writeAsk(
  tx: Tx,
  { org, id: execution }: ExecutionRow,
  { id, question }: AskNote,
): Promise<void> {
  if (question) {
    const { title, text = '', form } = question
    await tx
      .insertInto('interaction')
      .values({
        ...{ org, execution, id, title: bounded(title), text: bounded(text) },
        form: jsonText(form),
      })
      .onConflict((on) => on.columns(['org', 'execution', 'id']).doNothing())
      .execute()
    return
  }
  await tx
    .updateTable('interaction')
    .set({ state: 'over' })
    .where('org', '=', org)
    .where('execution', '=', execution)
    .where('id', '=', id)
    .where('state', '=', 'open')
    .execute()
}

async function closeAll(tx: Tx, { org, id: execution }: ExecutionRow): Promise<void> {
  await tx
    .updateTable('interaction')
    .set({ state: 'over' })
    .where('org', '=', org)
    .where('execution', '=', execution)
    .where('state', '=', 'open')
    .execute()
}

const bounded = (text: string): string => keptText(text.slice(0, TEXT_MAX))
