import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { WorkflowTables, RunValues } from './database.ts'

/** What a worker needs of a run. */
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
  /** With a SecureReference in place of each secret. */
  readonly input: RunValues
  readonly startedAt: string
}

export async function loadRun(db: Kysely<WorkflowTables>, execution: string): Promise<RunToDo> {
  const row = await db
    .selectFrom('execution')
    .selectAll()
    .where('id', '=', execution)
    .executeTakeFirst()
  if (!row || row.grant_id === null) {
    throw new Fault('gone', 'this execution was deleted, or never started')
  }
  return {
    execution,
    org: row.org,
    account: row.account,
    startedBy: row.account_name,
    workflow: row.workflow,
    workflowName: row.name,
    version: row.version,
    digest: row.digest,
    grant: row.grant_id,
    input: row.input,
    startedAt: row.started_at.toISOString(),
  }
}

export interface StoredDefinition {
  readonly digest: string
  readonly text: string
  readonly document: RunValues
  readonly form: RunValues | undefined
}

/** By digest: equal digests mean equal text, in any organisation. */
export async function loadDefinition(
  db: Kysely<WorkflowTables>,
  digest: string,
): Promise<StoredDefinition> {
  const row = await db
    .selectFrom('workflow_version')
    .select(['text', 'document', 'form'])
    .where('digest', '=', digest)
    .limit(1)
    .executeTakeFirst()
  if (!row) throw new Fault('gone', `no definition with the digest ${digest}`)
  if (digestOf(row.text) !== digest) {
    throw new Fault('conflict', `the stored definition does not match its digest ${digest}`, {
      hint: 'the database was modified manually: import the workflow again',
    })
  }
  return { digest, text: row.text, document: row.document, form: row.form ?? undefined }
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Sealed, as stored; only the worker of the same run reads it. */
export async function loadSecret(
  db: Kysely<WorkflowTables>,
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
  throw new Fault('gone', `the secret ${name} of this execution was deleted`)
}
