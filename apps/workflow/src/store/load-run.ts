import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Database, Values } from './database.ts'

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
  /** With a SecureReference in the place of each secret. */
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

/** Sealed, as it was given; only the worker of its own run asks. */
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
