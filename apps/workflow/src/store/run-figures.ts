import { executionStates, type ExecutionState } from '@skerry/serverless-workflow'
import { sql, type Kysely } from 'kysely'

import type { WorkflowTables } from './database.ts'
import { ended } from './executions.ts'

/** Active runs in one state. */
export interface RunFigure {
  readonly state: ExecutionState
  readonly count: number
  readonly oldestSeconds: number
}

const open = executionStates.filter((state) => !(ended as readonly string[]).includes(state))

/** One row for each state, even without runs. */
export async function readRunFigures(db: Kysely<WorkflowTables>): Promise<readonly RunFigure[]> {
  const { rows } = await sql<RunFigure>`
    select state, count(*)::integer as count,
      extract(epoch from clock_timestamp() - min(started_at))::float8 as "oldestSeconds"
    from execution where state not in ('completed', 'failed', 'canceled') group by state`.execute(
    db,
  )
  const found = new Map(rows.map((row) => [row.state, row]))
  return open.map((state) => found.get(state) ?? { state, count: 0, oldestSeconds: 0 })
}
