import type { Clock, Seal } from '@skerry/service'
import type { OrgId, UserId } from '@skerry/vm'

import type { RunInput } from './durable/states.ts'
import type { Json, Verbs } from './durable/verbs.ts'
import type { Who } from './identity/rights.ts'
import type { Tx } from './store/database.ts'
import type { ScheduleRow } from './store/schedules.ts'

/** The way to Temporal. Each throws a Fault `unavailable` while it is away; each may be asked again. */
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

/** The cloud's word for what may be done in somebody's name. */
export interface Grants {
  ask(grant: {
    readonly org: OrgId
    readonly account: UserId
    readonly kind: 'run' | 'schedule'
    readonly parent?: string
  }): Promise<string>
  end(grant: string): Promise<void>
}

/** What a request may reach. */
export interface RequestWorld {
  /** A transaction in which Postgres shows this asker's rows and no others. */
  as<T>(who: Who, work: (tx: Tx) => Promise<T>): Promise<T>
  readonly runs: Runs
  readonly grants: Grants
  readonly seal: Pick<Seal, 'close'>
  readonly clock: Clock
  readonly uuid: () => string
  /** Whether the rows can be read. Temporal may be away: lists and exports do without it. */
  readonly isReady: () => Promise<boolean>
  /** The public address: it stands in every link. */
  readonly base: URL
  /** Names of our own functions, which a definition may call. */
  readonly functions: ReadonlySet<string>
  /** jq, in bounded threads: an expression that it cannot read is refused at import. */
  readonly evaluate: Verbs['evaluate']
  /** How many runs of an organisation may go on at once. */
  readonly runsPerOrg: number
}
