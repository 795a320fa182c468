// Runs that are not started over HTTP: scheduled runs, and child runs.
import { Fault } from '@skerry/fault'
import { sql, type Kysely } from 'kysely'

import type { WorkflowTables, RunValues } from './database.ts'
import type { ExecutionRow } from './executions.ts'
import { jsonText } from './json-text.ts'
import { findSchedule, type ScheduleRow } from './schedules.ts'

export interface StartedRun {
  readonly execution: ExecutionRow
  /** The grant that authorizes asking for its own grant, unless it has one. */
  readonly parentGrant: string
}

export interface ChildRunRequest {
  /** The parent execution. */
  readonly parent: string
  /** Idempotency key: the same key is the same child. */
  readonly key: string
  readonly namespace: string
  readonly name: string
  /** `latest`: the version that was stored last. */
  readonly version: string
  /** With a SecureReference in place of each secret. */
  readonly input: RunValues
  /** The parent's secrets that the child gets. A missing one fails when it is opened. */
  readonly secrets: ReadonlySet<string>
  /** Seals a secret of the parent run for the child. */
  readonly reseal: (sealed: Buffer, child: string, name: string) => Buffer
}

/** Adds a child run of a workflow of the same organisation, on behalf of the same user. Idempotent by key. */
export async function addChildRun(
  db: Kysely<WorkflowTables>,
  requested: ChildRunRequest,
): Promise<StartedRun> {
  const { parent: of, key, namespace, name, version } = requested
  return db.transaction().execute(async (tx) => {
    const parent = await tx
      .selectFrom('execution')
      .selectAll()
      .where('id', '=', of)
      .forUpdate()
      .executeTakeFirst()
    if (!parent || parent.grant_id === null)
      throw new Fault('gone', 'the parent run no longer exists')
    const parentGrant = parent.grant_id
    const known = await tx
      .selectFrom('execution')
      .selectAll()
      .where('org', '=', parent.org)
      .where('parent', '=', of)
      .where('request_key', '=', key)
      .executeTakeFirst()
    if (known) return { execution: known, parentGrant }
    const found = tx
      .selectFrom('workflow_version as v')
      .innerJoin('workflow as w', (join) =>
        join.onRef('w.org', '=', 'v.org').onRef('w.id', '=', 'v.workflow'),
      )
      .select(['w.id', 'w.name', 'v.version', 'v.digest'])
      .where('v.org', '=', parent.org)
      .where('v.namespace', '=', namespace)
      .where('v.called', '=', name)
      .where('w.deleted_at', 'is', null)
      .orderBy('v.made_at', 'desc')
    const inner = await (
      version === 'latest' ? found : found.where('v.version', '=', version)
    ).executeTakeFirst()
    if (!inner) {
      throw new Fault(
        'not-found',
        `no workflow ${namespace}/${name} ${version} in this organisation`,
        {
          hint: 'import it, or use an existing version',
        },
      )
    }
    const execution = await tx
      .insertInto('execution')
      .values({
        org: parent.org,
        workflow: inner.id,
        name: inner.name,
        version: inner.version,
        digest: inner.digest,
        account: parent.account,
        account_name: parent.account_name,
        parent: of,
        request_key: key,
        input: jsonText(requested.input),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await handSecrets(tx, requested, execution)
    return { execution, parentGrant }
  })
}

async function handSecrets(
  tx: Kysely<WorkflowTables>,
  { parent, secrets, reseal }: ChildRunRequest,
  { org, id }: ExecutionRow,
): Promise<void> {
  if (secrets.size === 0) return
  const handed = await tx
    .selectFrom('execution_secret')
    .select(['name', 'sealed'])
    .where('execution', '=', parent)
    .where('name', 'in', [...secrets])
    .execute()
  for (const { name, sealed } of handed) {
    const values = { org, execution: id, name, sealed: reseal(sealed, id, name) }
    await tx.insertInto('execution_secret').values(values).execute()
  }
}

/**
 * Adds the run of a schedule, under a key that Temporal gives to this due time only. Returns undefined if the schedule is paused, or
 * it or its workflow is deleted, even if Temporal triggers it. Uses the current version of the workflow.
 */
export async function addScheduledRun(
  db: Kysely<WorkflowTables>,
  schedule: string,
  key: string,
): Promise<StartedRun | undefined> {
  const requested = await findSchedule(db, schedule)
  if (!requested) return undefined
  await insertScheduled(db, requested, `schedule/${schedule}/${key}`)
  const execution = await db
    .selectFrom('execution')
    .selectAll()
    .where('org', '=', requested.org)
    .where('schedule', '=', schedule)
    .where('request_key', '=', `schedule/${schedule}/${key}`)
    .executeTakeFirst()
  return execution && { execution, parentGrant: requested.grant_id }
}

async function insertScheduled(
  db: Kysely<WorkflowTables>,
  { org, id, workflow, account, account_name, input }: ScheduleRow,
  key: string,
): Promise<void> {
  await sql`
    insert into execution (org, workflow, name, version, digest, account, account_name, schedule, request_key, input)
    select org, id, name, version, digest, ${account}, ${account_name}, ${id}, ${key}, ${jsonText(input)}::json
    from workflow where org = ${org} and id = ${workflow} and deleted_at is null and exists (
      select from schedule where schedule.org = ${org} and schedule.id = ${id}
        and not schedule.paused and schedule.deleted_at is null for share)
    on conflict (org, account, request_key) where request_key is not null and parent is null do nothing`.execute(
    db,
  )
}
