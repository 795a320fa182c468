import type { Evaluator } from '@skerry/jq'
import type { RunInput, Json } from '@skerry/serverless-workflow'
import type { Clock, Seal } from '@skerry/service'
import type { OrgId, UserId } from '@skerry/vm'

import type { OpenStreams } from './identity/open-streams.ts'
import type { WorkflowPrincipal } from './identity/rights.ts'
import type { WorkflowTx } from './store/database.ts'
import type { ScheduleRow } from './store/schedules.ts'

/** Access to Temporal. Each call throws a Fault `unavailable` while Temporal is unreachable, and is safe to repeat. */
export interface Runs {
  start(run: RunInput): Promise<void>
  cancel(execution: string): Promise<void>
  answer(execution: string, interaction: string, by: string, answer: Json): Promise<void>
  /** Whether Temporal still runs it. */
  goesOn(execution: string): Promise<boolean>
  readonly schedules: {
    create(schedule: ScheduleRow): Promise<void>
    pause(schedule: string, paused: boolean): Promise<void>
    delete(schedule: string): Promise<void>
  }
}

/** Grants of the cloud: permissions to act on behalf of a user. */
export interface Grants {
  ask(grant: {
    readonly id?: string
    readonly org: OrgId
    readonly account: UserId
    readonly kind: 'run' | 'schedule'
    readonly parent?: string
  }): Promise<string>
  end(grant: string): Promise<void>
}

/** The context of a request. */
export interface WorkflowRequestContext {
  /** Runs a transaction in which PostgreSQL shows only the rows of this caller. */
  as<T>(principal: WorkflowPrincipal, work: (tx: WorkflowTx) => Promise<T>): Promise<T>
  readonly runs: Runs
  readonly grants: Grants
  readonly seal: Pick<Seal, 'close'>
  readonly clock: Clock
  readonly uuid: () => string
  /** Whether the database can be read. Temporal may be unavailable: lists and exports work without it. */
  readonly isReady: () => Promise<boolean>
  /** The public URL, used in every link. */
  readonly base: URL
  /** Names of the built-in functions that a definition may call. */
  readonly functions: ReadonlySet<string>
  /** jq, in bounded threads: an import rejects an expression that jq cannot parse. */
  readonly evaluate: Evaluator['evaluate']
  /** Validates inputs and answers against their form, in the same threads. */
  readonly findInvalid: Evaluator['findInvalid']
  /** The maximum number of concurrent runs of an organisation. */
  readonly runsPerOrg: number
  readonly streams: OpenStreams
}
