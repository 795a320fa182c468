import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Who } from '../identity/rights.ts'
import type { Database, Tx } from './database.ts'
import type { ExecutionRow } from './executions.ts'

export interface InteractionRow extends Selectable<Database['interaction']> {
  readonly workflow: string
  readonly name: string
}

/** Oldest first. Of one execution, of one workflow, or of all that the asker sees. */
export async function listInteractions(
  db: Kysely<Database>,
  { execution, workflow, open }: Readonly<{ execution?: string; workflow?: string; open: boolean }>,
  limit: number,
): Promise<InteractionRow[]> {
  let found = db
    .selectFrom('interaction')
    .innerJoin('execution', (join) =>
      join
        .onRef('execution.org', '=', 'interaction.org')
        .onRef('execution.id', '=', 'interaction.execution'),
    )
    .selectAll('interaction')
    .select(['execution.workflow', 'execution.name'])
    .orderBy('interaction.asked_at')
    .orderBy('interaction.id')
    .limit(limit)
  if (open) found = found.where('interaction.state', '=', 'open')
  if (execution !== undefined) found = found.where('interaction.execution', '=', execution)
  if (workflow !== undefined) found = found.where('execution.workflow', '=', workflow)
  return found.execute()
}

/** The one that is waited for: the oldest, or the one that is named. */
export async function openInteraction(
  db: Kysely<Database>,
  { id }: Pick<ExecutionRow, 'id'>,
  named?: string,
): Promise<InteractionRow> {
  const all = await listInteractions(db, { execution: id, open: true }, 100)
  const found = named === undefined ? all[0] : all.find((each) => each.id === named)
  if (found) return found
  throw new Fault('conflict', 'this run waits for nobody’s answer', {
    hint: 'look at its state: only one that is waiting can be answered',
  })
}

/** Once: of two who answer at the same moment, one is told that it was answered. */
export async function closeInteraction(
  tx: Tx,
  { user }: Pick<Who, 'user'>,
  { org, execution, id }: Pick<InteractionRow, 'org' | 'execution' | 'id'>,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('interaction')
    .set({ state: 'answered', answered_by: user, answered_at: sql<Date>`clock_timestamp()` })
    .where('org', '=', org)
    .where('execution', '=', execution)
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Fault('conflict', 'somebody else has answered it already')
}
