import type { ExecutionState, Problem } from '@skerry/serverless-workflow'
import type { OrgId, UserId } from '@skerry/vm'
import type { ColumnType, Generated, Transaction } from 'kysely'

// The tables of migrations/, column by column. Their purpose is described there.

type Time = ColumnType<Date, Date | undefined, Date>
type MaybeTime = ColumnType<Date | null, Date | null | undefined, Date | null>
/** JSON: read as a value, written as text. */
type Json<T> = ColumnType<T, string | undefined, string>
type MaybeJson<T> = ColumnType<T | null, string | null | undefined, string | null>

export type RunValues = Readonly<Record<string, unknown>>

export const overlaps = ['skip', 'queue', 'queue-all', 'cancel-other', 'allow'] as const
/** What happens at a due time while the previous run is still active. */
export type Overlap = (typeof overlaps)[number]

export const severities = ['debug', 'info', 'warning', 'error'] as const
export type Severity = (typeof severities)[number]

/** Who may answer a question: all users with the right to run, or all but the one who started the run. */
export type Approver = 'anyone' | 'other'

/** The state of a place of the definition. */
export type StepState = 'running' | 'done' | 'skipped' | 'failed' | 'canceled'

/** The error of a failed run, as the DSL defines it. */
export type RunError = Partial<Problem>

export interface WorkflowTables {
  category: {
    org: OrgId
    id: Generated<string>
    parent: string | null
    name: string
    description: Generated<string>
    path: string
  }
  workflow: {
    org: OrgId
    org_name: string
    id: Generated<string>
    category: string
    category_name: string
    name: string
    description: Generated<string>
    tags: Generated<string[]>
    version: string
    digest: string
    owner: UserId
    owner_name: string
    made_at: Time
    changed_at: Time
    deleted_at: MaybeTime
  }
  workflow_version: {
    org: OrgId
    workflow: string
    digest: string
    version: string
    namespace: string
    called: string
    text: string
    document: ColumnType<RunValues, string, never>
    form: ColumnType<RunValues | null, string | null | undefined, never>
    made_by: string
    made_at: Time
  }
  schedule: {
    org: OrgId
    id: Generated<string>
    workflow: string
    name: string
    grant_id: string
    grant_ended: Generated<boolean>
    account: UserId
    account_name: string
    cron: string | null
    every_seconds: number | null
    time_zone: string
    overlap: Overlap
    paused: Generated<boolean>
    paused_why: string | null
    input: Json<RunValues>
    made_at: Time
    deleted_at: MaybeTime
  }
  execution: {
    org: OrgId
    id: Generated<string>
    workflow: string
    name: string
    version: string
    digest: string
    grant_id: string | null
    grant_ended: Generated<boolean>
    account: UserId
    account_name: string
    schedule: string | null
    parent: string | null
    request_key: string | null
    state: Generated<ExecutionState>
    cancel: Generated<boolean>
    input: Json<RunValues>
    output: MaybeJson<unknown>
    step: string | null
    step_name: string | null
    error: MaybeJson<RunError>
    number: Generated<number>
    logs: Generated<number>
    started_at: Time
    ended_at: MaybeTime
  }
  execution_secret: { org: OrgId; execution: string; name: string; sealed: Buffer }
  execution_step: {
    org: OrgId
    execution: string
    place: string
    state: StepState
    number: number
    times: Generated<number>
    changed_at: Time
  }
  execution_log: {
    org: OrgId
    execution: string
    seq: number
    at: Date
    severity: Severity
    summary: string
    detail: Generated<string>
    origin: Generated<string>
  }
  interaction: {
    org: OrgId
    execution: string
    id: string
    title: string
    text: Generated<string>
    form: MaybeJson<RunValues>
    approver: Generated<Approver>
    state: Generated<'open' | 'answered' | 'over'>
    answered_by: string | null
    asked_at: Time
    answered_at: MaybeTime
  }
}

export type WorkflowTx = Transaction<WorkflowTables>
