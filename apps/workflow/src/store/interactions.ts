import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { WorkflowPrincipal } from '../identity/rights.ts'
import type { WorkflowTables, WorkflowTx } from './database.ts'
import type { ExecutionRow } from './executions.ts'

export interface InteractionRow extends Selectable<WorkflowTables['interaction']> {
  readonly workflow: string
  readonly name: string
}

/** Oldest first. Of one execution, of one workflow, or all that the caller can see. */
export async function listInteractions(
  db: Kysely<WorkflowTables>,
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

/** The open interaction of a run: the oldest, or the named one. */
export async function openInteraction(
  db: Kysely<WorkflowTables>,
  { id }: Pick<ExecutionRow, 'id'>,
  named?: string,
): Promise<InteractionRow> {
  const all = await listInteractions(db, { execution: id, open: true }, 100)
  const found = named === undefined ? all[0] : all.find((each) => each.id === named)
  if (found) return found
  throw new Fault('conflict', 'this run has no open user interaction', {
    hint: 'check its state: only a waiting run can be answered',
  })
}

/** Whether this user may answer: with approver `other`, not the user who started the run or owns its schedule. */
export const mayAnswer = (
  { account }: Pick<WorkflowPrincipal, 'account'>,
  { approver }: Pick<InteractionRow, 'approver'>,
  execution: Pick<ExecutionRow, 'account'>,
): boolean => approver !== 'other' || execution.account !== account

export function requireApprover(
  principal: Pick<WorkflowPrincipal, 'account'>,
  requested: Pick<InteractionRow, 'approver'>,
  execution: Pick<ExecutionRow, 'account'>,
): void {
  if (mayAnswer(principal, requested, execution)) return
  throw new Fault('forbidden', 'another user must answer this: the run acts on your behalf', {
    hint: 'ask another user of the organisation who may run workflows',
  })
}

/** Accepts one answer; a concurrent second one is rejected. */
export async function closeInteraction(
  tx: WorkflowTx,
  { user }: Pick<WorkflowPrincipal, 'user'>,
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
  if (numUpdatedRows === 0n) throw new Fault('conflict', 'another user has already answered it')
}
