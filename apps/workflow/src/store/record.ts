import type { AskNote, RunProgress, StepNote } from '@skerry/serverless-workflow'
import { sql, type Kysely } from 'kysely'

import type { WorkflowTables, Severity, StepState, WorkflowTx } from './database.ts'
import { ended, hasEnded, type ExecutionRow } from './executions.ts'
import { jsonText, keptText } from './json-text.ts'

/** The maximum number of log lines of a run; the last one states that more were dropped. */
const LOGS_MAX = 10_000
const TEXT_MAX = 16 * 1024

/**
 * The only way for a worker to record the progress of a run. Repeated or late reports are detected by their number and ignored. A
 * missing execution is not an error: it was deleted.
 */
export async function record(db: Kysely<WorkflowTables>, progress: RunProgress): Promise<void> {
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

/** The state of an ended run does not change. */
async function writeState(tx: WorkflowTx, row: ExecutionRow, progress: RunProgress): Promise<void> {
  const { state, steps, output, error } = progress
  const last = steps.at(-1)
  const over = ended.includes(state)
  await tx
    .updateTable('execution')
    .set({
      state,
      number: Math.max(row.number, last?.number ?? 0),
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
  tx: WorkflowTx,
  { org, id }: ExecutionRow,
  { place, what, number, times }: StepNote & { readonly times: number },
): Promise<void> {
  const state = stateOf[what]
  await tx
    .insertInto('execution_step')
    .values({ org, execution: id, place: bounded(place), state, number, times })
    .onConflict((on) =>
      on.columns(['org', 'execution', 'place']).doUpdateSet({
        state,
        number,
        changed_at: sql<Date>`clock_timestamp()`,
        times: sql<number>`execution_step.times + excluded.times`,
      }),
    )
    .execute()
}

async function writeLogs(
  tx: WorkflowTx,
  row: ExecutionRow,
  steps: readonly StepNote[],
): Promise<void> {
  const room = LOGS_MAX - row.logs
  if (room <= 0 || steps.length === 0) return
  const { org, id: execution } = row
  const lines = steps.slice(0, room).map(({ number, at, place, name, what, text }) => ({
    org,
    execution,
    seq: number,
    at: new Date(at),
    severity: severityOf[what],
    summary: bounded(`${name} ${what}`),
    detail: bounded(text ?? ''),
    origin: bounded(place),
  }))
  const last = lines.at(-1)
  if (last && lines.length === room) {
    lines[lines.length - 1] = {
      ...last,
      severity: 'warning',
      detail: '',
      summary: 'log limit reached: further lines are dropped',
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
  tx: WorkflowTx,
  { org, id: execution }: ExecutionRow,
  { id, question }: AskNote,
): Promise<void> {
  if (question) {
    const { title, text = '', form, approver = 'anyone' } = question
    await tx
      .insertInto('interaction')
      .values({
        org,
        execution,
        id,
        title: bounded(title),
        text: bounded(text),
        form: jsonText(form),
        approver,
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

async function closeAll(tx: WorkflowTx, { org, id: execution }: ExecutionRow): Promise<void> {
  await tx
    .updateTable('interaction')
    .set({ state: 'over' })
    .where('org', '=', org)
    .where('execution', '=', execution)
    .where('state', '=', 'open')
    .execute()
}

const bounded = (text: string): string => keptText(text.slice(0, TEXT_MAX))
