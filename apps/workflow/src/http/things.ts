import type { Owned, Who } from '../identity/rights.ts'
import { findCategory, type CategoryRow } from '../store/categories.ts'
import type { Tx } from '../store/database.ts'
import { findExecution, type ExecutionRow } from '../store/executions.ts'
import { findSchedule, type ScheduleRow } from '../store/schedules.ts'
import { findWorkflow, type FoundWorkflow } from '../store/workflows.ts'

/** What a ':name' in a path stands for. */
export interface Things {
  readonly workflow: FoundWorkflow
  readonly execution: ExecutionRow
  readonly category: CategoryRow
  readonly schedule: ScheduleRow
}

type Finders = {
  readonly [Name in keyof Things]: (
    tx: Tx,
    id: string,
    asked: { readonly who: Who; readonly found: Partial<Things> },
  ) => Promise<(Things[Name] & Owned) | undefined>
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** An id that is no uuid is unknown, not an error. Some clients send it in capitals. */
const uuidOf = (id: string): string | undefined => (UUID.test(id) ? id.toLowerCase() : undefined)

/** In the order in which they are looked for: an execution is one of the workflow before it, or it is none. */
export const things: Finders = {
  async workflow(tx, id, { who }) {
    const uuid = uuidOf(id)
    return uuid === undefined ? undefined : findWorkflow(tx, uuid, who)
  },
  async execution(tx, id, { found }) {
    const uuid = uuidOf(id)
    const execution = uuid === undefined ? undefined : await findExecution(tx, uuid)
    const { workflow } = found
    const its = !workflow || (workflow.id === execution?.workflow && workflow.org === execution.org)
    return its ? execution : undefined
  },
  async category(tx, id) {
    const uuid = uuidOf(id)
    return uuid === undefined ? undefined : findCategory(tx, uuid)
  },
  async schedule(tx, id) {
    const uuid = uuidOf(id)
    return uuid === undefined ? undefined : findSchedule(tx, uuid)
  },
}
