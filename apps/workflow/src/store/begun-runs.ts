// Runs that nobody asked for over HTTP: of a schedule whose time has come, and inside of another run.
import { Fault } from '@skerry/fault'
import { sql, type Kysely } from 'kysely'

import type { Database, Values } from './database.ts'
import type { ExecutionRow } from './executions.ts'
import { jsonText } from './json-text.ts'
import { findSchedule, type ScheduleRow } from './schedules.ts'

export interface Begun {
  readonly execution: ExecutionRow
  /** In whose name a grant of its own is to be asked for, unless it has one. */
  readonly parentGrant: string
}

export interface ChildAsked {
  /** The execution that it is inside of. */
  readonly parent: string
  /** The same key is the same child. */
  readonly key: string
  readonly namespace: string
  readonly name: string
  /** `latest`: the one that was written down last. */
  readonly version: string
  /** With a SecureReference in the place of each secret. */
  readonly input: Values
  /** The secrets of the outer run that are handed on. One that it does not have is missed by whoever opens it. */
  readonly secrets: ReadonlySet<string>
  /** Seals a secret of the outer run for this one. */
  readonly reseal: (sealed: Buffer, child: string, name: string) => Buffer
}

/** A run inside of a run, of a workflow of the same organisation, in the same name. Asked for twice it is the same one. */
export async function addChildRun(db: Kysely<Database>, asked: ChildAsked): Promise<Begun> {
  const { parent: of, key, namespace, name, version } = asked
  return db.transaction().execute(async (tx) => {
    const parent = await tx
      .selectFrom('execution')
      .selectAll()
      .where('id', '=', of)
      .forUpdate()
      .executeTakeFirst()
    if (!parent || parent.grant_id === null) throw new Fault('gone', 'the outer run is gone')
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
      throw new Fault('not-found', `there is no workflow ${namespace}/${name} ${version} here`, {
        hint: 'import it, or name a version that there is',
      })
    }
    const execution = await tx
      .insertInto('execution')
      .values({
        ...{ org: parent.org, workflow: inner.id, name: inner.name, version: inner.version },
        ...{ digest: inner.digest, account: parent.account, account_name: parent.account_name },
        ...{ parent: of, request_key: key, input: jsonText(asked.input) },
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await handSecrets(tx, asked, execution)
    return { execution, parentGrant }
  })
}

async function handSecrets(
  tx: Kysely<Database>,
  { parent, secrets, reseal }: ChildAsked,
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
 * The run of a schedule, under a key that Temporal gives to this time and no other. Undefined: the schedule or its workflow is
 * gone. It is the version that the workflow has at this moment.
 */
export async function addScheduledRun(
  db: Kysely<Database>,
  schedule: string,
  key: string,
): Promise<Begun | undefined> {
  const asked = await findSchedule(db, schedule)
  if (!asked) return undefined
  await insertScheduled(db, asked, `schedule/${schedule}/${key}`)
  const execution = await db
    .selectFrom('execution')
    .selectAll()
    .where('org', '=', asked.org)
    .where('schedule', '=', schedule)
    .where('request_key', '=', `schedule/${schedule}/${key}`)
    .executeTakeFirst()
  return execution && { execution, parentGrant: asked.grant_id }
}

async function insertScheduled(
  db: Kysely<Database>,
  { org, id, workflow, account, account_name, input }: ScheduleRow,
  key: string,
): Promise<void> {
  await sql`
    insert into execution (org, workflow, name, version, digest, account, account_name, schedule, request_key, input)
    select org, id, name, version, digest, ${account}, ${account_name}, ${id}, ${key}, ${jsonText(input)}::json
    from workflow where org = ${org} and id = ${workflow} and deleted_at is null
    on conflict (org, account, request_key) where request_key is not null and parent is null do nothing`.execute(
    db,
  )
}
