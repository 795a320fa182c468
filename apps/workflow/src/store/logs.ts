import type { Kysely, Selectable } from 'kysely'

import type { WorkflowTables } from './database.ts'
import type { ExecutionRow } from './executions.ts'

export type LogRow = Selectable<WorkflowTables['execution_log']>

export interface LogsQuery {
  readonly severity: LogRow['severity'] | undefined
  /** Only newer lines. */
  readonly since: Date | undefined
  /** Only lines after this one. */
  readonly after: number | undefined
  readonly limit: number
}

/** Oldest first. */
export async function listLogs(
  db: Kysely<WorkflowTables>,
  { org, id }: Pick<ExecutionRow, 'org' | 'id'>,
  { severity, since, after, limit }: LogsQuery,
): Promise<LogRow[]> {
  let found = db
    .selectFrom('execution_log')
    .selectAll()
    .where('org', '=', org)
    .where('execution', '=', id)
    .orderBy('seq')
    .limit(limit)
  if (severity !== undefined) found = found.where('severity', '=', severity)
  if (since !== undefined) found = found.where('at', '>', since)
  if (after !== undefined) found = found.where('seq', '>', after)
  return found.execute()
}
