import { isUuid } from '@skerry/vm'

import type { OwnedWorkflow, WorkflowPrincipal } from '../identity/rights.ts'
import { findCategory, type CategoryRow } from '../store/categories.ts'
import type { WorkflowTx } from '../store/database.ts'
import { findExecution, type ExecutionRow } from '../store/executions.ts'
import { findSchedule, type ScheduleRow } from '../store/schedules.ts'
import { findWorkflow, type FoundWorkflow } from '../store/workflows.ts'

/** The resources that ':name' parameters of a path refer to. */
export interface PathWorkflows {
  readonly workflow: FoundWorkflow
  readonly execution: ExecutionRow
  readonly category: CategoryRow
  readonly schedule: ScheduleRow
}

type Finders = {
  readonly [Name in keyof PathWorkflows]: (
    tx: WorkflowTx,
    id: string,
    requested: { readonly principal: WorkflowPrincipal; readonly found: Partial<PathWorkflows> },
  ) => Promise<(PathWorkflows[Name] & OwnedWorkflow) | undefined>
}

/** An id that is not a UUID is unknown, not an error. Some clients send it in capitals. */
const uuidOf = (id: string): string | undefined =>
  isUuid(id.toLowerCase()) ? id.toLowerCase() : undefined

/** Looked up in this order: an execution must belong to the workflow before it. */
export const workflowFinders: Finders = {
  async workflow(tx, id, { principal }) {
    const uuid = uuidOf(id)
    return uuid === undefined ? undefined : findWorkflow(tx, uuid, principal)
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
