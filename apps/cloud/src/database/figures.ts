import { sql, type Kysely } from 'kysely'

import type { CloudTables } from './tables.ts'

/** Figures of all tasks and hosts of the cloud, for the metrics. */
export interface Figures {
  readonly tasks: readonly {
    readonly state: 'queued' | 'running'
    readonly count: number
    readonly oldestSeconds: number
  }[]
  readonly hosts: readonly {
    readonly name: string
    readonly state: 'open' | 'away' | 'quarantined'
    /** Null: it was never heard. */
    readonly unheardSeconds: number | null
  }[]
}

export const hostStates = ['open', 'away', 'quarantined'] as const

export async function readFigures(db: Kysely<CloudTables>): Promise<Figures> {
  const tasks = await sql<Figures['tasks'][number]>`
    select wanted.state, count(task.id)::integer as count,
      coalesce(extract(epoch from clock_timestamp() - min(
        case wanted.state when 'queued' then task.created_at else task.started_at end)), 0)::float8 as "oldestSeconds"
    from (values ('queued'), ('running')) as wanted (state)
      left join task on task.state = wanted.state and task.state in ('queued', 'running')
    group by wanted.state`.execute(db)
  // Host names need not be unique, but a metric may have each label only once.
  const hosts = await sql<Figures['hosts'][number]>`
    select distinct on (name) name, case when quarantine is not null then 'quarantined'
        when coalesce(follow_until > clock_timestamp() and list_session = session, false) then 'open' else 'away' end as state,
      extract(epoch from clock_timestamp() - seen_at)::float8 as "unheardSeconds"
    from host where state = 'joined' order by name, seen_at nulls first`.execute(db)
  return { tasks: tasks.rows, hosts: hosts.rows }
}
