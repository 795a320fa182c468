import type { OrgId, UserId } from '@skerry/vm'
import type { ColumnType, Generated, Transaction } from 'kysely'

import type { ExecutionState } from '../durable/states.ts'
import type { Problem } from '../durable/verbs.ts'

// The tables of migrations/, column by column. What each is for stands there.

type Time = ColumnType<Date, Date | undefined, Date>
type MaybeTime = ColumnType<Date | null, Date | null | undefined, Date | null>
/** JSON: read as what it is, written as text. */
type Json<T> = ColumnType<T, string | undefined, string>
type MaybeJson<T> = ColumnType<T | null, string | null | undefined, string | null>

export type Values = Readonly<Record<string, unknown>>

export const overlaps = ['skip', 'queue', 'queue-all', 'cancel-other', 'allow'] as const
/** What happens when it is time and the run before still goes on. */
export type Overlap = (typeof overlaps)[number]

export const severities = ['debug', 'info', 'warning', 'error'] as const
export type Severity = (typeof severities)[number]

/** How far a place of the definition is. */
export type StepState = 'running' | 'done' | 'skipped' | 'failed' | 'canceled'

/** Why a run failed, in the DSL's own form. */
export type RunError = Partial<Problem>

export interface Database {
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
    document: ColumnType<Values, string, never>
    form: ColumnType<Values | null, string | null | undefined, never>
    made_by: string
    made_at: Time
  }
  schedule: {
    org: OrgId
    id: Generated<string>
    workflow: string
    name: string
    grant_id: string
    account: UserId
    account_name: string
    cron: string | null
    every_seconds: number | null
    time_zone: string
    overlap: Overlap
    paused: Generated<boolean>
    input: Json<Values>
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
    account: UserId
    account_name: string
    schedule: string | null
    parent: string | null
    request_key: string | null
    state: Generated<ExecutionState>
    cancel: Generated<boolean>
    input: Json<Values>
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
    form: MaybeJson<Values>
    state: Generated<'open' | 'answered' | 'over'>
    answered_by: string | null
    asked_at: Time
    answered_at: MaybeTime
  }
}

export type Tx = Transaction<Database>
