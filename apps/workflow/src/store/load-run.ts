import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Database, Values } from './database.ts'

/** Stands in an input where a secret was left out; what it refers to is looked up when it is needed, and never before. */
export interface SecretReference {
  readonly $secret: string
}

/** What a worker needs to know of a run. */
export interface RunToDo {
  readonly execution: string
  readonly org: OrgId
  readonly account: UserId
  readonly startedBy: string
  readonly workflow: string
  readonly workflowName: string
  readonly version: string
  readonly digest: string
  readonly grant: string
  /** With a reference in the place of each secret. */
  readonly input: Values
  readonly startedAt: string
}

export async function loadRun(db: Kysely<Database>, execution: string): Promise<RunToDo> {
  const row = await db
    .selectFrom('execution')
    .selectAll()
    .where('id', '=', execution)
    .executeTakeFirst()
  if (!row || row.grant_id === null) {
    throw new Fault('gone', 'this execution is not there any more, or was never begun')
  }
  return {
    ...{ execution, org: row.org, account: row.account, startedBy: row.account_name },
    ...{ workflow: row.workflow, workflowName: row.name, version: row.version },
    ...{ digest: row.digest, grant: row.grant_id, input: row.input },
    startedAt: row.started_at.toISOString(),
  }
}

export interface StoredDefinition {
  readonly digest: string
  readonly text: string
  readonly document: Values
  readonly form: Values | undefined
}

/** By what it is: the same digest is the same text, whoever wrote it down. */
export async function loadDefinition(
  db: Kysely<Database>,
  digest: string,
): Promise<StoredDefinition> {
  const row = await db
    .selectFrom('workflow_version')
    .select(['text', 'document', 'form'])
    .where('digest', '=', digest)
    .limit(1)
    .executeTakeFirst()
  if (!row) throw new Fault('gone', `no definition of the digest ${digest} is stored`)
  if (digestOf(row.text) !== digest) {
    throw new Fault('conflict', `what is stored under the digest ${digest} is something else`, {
      hint: 'somebody has written to the database by hand: import the workflow again',
    })
  }
  return { digest, text: row.text, document: row.document, form: row.form ?? undefined }
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export async function loadSecret(
  db: Kysely<Database>,
  execution: string,
  name: string,
): Promise<Buffer> {
  const row = await db
    .selectFrom('execution_secret')
    .select('sealed')
    .where('execution', '=', execution)
    .where('name', '=', name)
    .executeTakeFirst()
  if (row) return row.sealed
  throw new Fault('gone', `the secret ${name} of this execution is not there any more`)
}

/** Of a workflow that a run calls by its name: in the organisation that owns the definition, as it is now. */
export async function findDefinition(
  db: Kysely<Database>,
  org: OrgId,
  name: string,
  version?: string,
): Promise<{ readonly workflow: string; readonly digest: string } | undefined> {
  const found = db
    .selectFrom('workflow')
    .select(['id as workflow', 'digest'])
    .where('org', '=', org)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .orderBy('id')
  return (version === undefined ? found : found.where('version', '=', version)).executeTakeFirst()
}

/** A schedule's run: written down when it is time, under the id that Temporal gave it; the same again is the same. */
export async function addScheduledRun(
  db: Kysely<Database>,
  { schedule, execution, grant }: Readonly<Record<'schedule' | 'execution' | 'grant', string>>,
): Promise<void> {
  await db
    .insertInto('execution')
    .columns([
      ...(['org', 'id', 'workflow', 'name', 'version', 'digest', 'grant_id'] as const),
      ...(['account', 'account_name', 'schedule', 'input'] as const),
    ])
    .expression((from) =>
      from
        .selectFrom('schedule as s')
        .innerJoin('workflow as w', (join) =>
          join.onRef('w.org', '=', 's.org').onRef('w.id', '=', 's.workflow'),
        )
        .select(({ val }) => [
          's.org',
          val(execution).$castTo<string>().as('id'),
          's.workflow',
          'w.name',
          'w.version',
          'w.digest',
          val(grant).$castTo<string>().as('grant_id'),
          's.account',
          's.account_name',
          's.id as schedule',
          's.input',
        ])
        .where('s.id', '=', schedule)
        .where('s.deleted_at', 'is', null)
        .where('w.deleted_at', 'is', null),
    )
    .onConflict((on) => on.columns(['org', 'id']).doNothing())
    .execute()
}
