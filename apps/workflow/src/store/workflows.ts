import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import { sql, type Kysely, type Selectable } from 'kysely'

import { notFound, type WorkflowPrincipal } from '../identity/rights.ts'
import type { CategoryRow } from './categories.ts'
import type { WorkflowTables, WorkflowTx, RunValues } from './database.ts'
import { jsonText } from './json-text.ts'

export type WorkflowRow = Selectable<WorkflowTables['workflow']>
export type VersionRow = Selectable<WorkflowTables['workflow_version']>
export interface FoundWorkflow extends WorkflowRow {
  /** The path of its folder, from the outermost on. */
  readonly path: string
}

/** An id is unique in an organisation. A caller who sees all organisations gets their own first, or a conflict if it is ambiguous. */
export async function findWorkflow(
  db: Kysely<WorkflowTables>,
  id: string,
  principal: Pick<WorkflowPrincipal, 'org'>,
): Promise<FoundWorkflow | undefined> {
  const found = await db
    .selectFrom('workflow')
    .innerJoin('category', (join) =>
      join
        .onRef('category.org', '=', 'workflow.org')
        .onRef('category.id', '=', 'workflow.category'),
    )
    .selectAll('workflow')
    .select('category.path')
    .where('workflow.id', '=', id)
    .where('workflow.deleted_at', 'is', null)
    .limit(16)
    .execute()
  const own = found.find(({ org }) => org === principal.org)
  if (own || found.length < 2) return own ?? found[0]
  const orgs = found.map((each) => each.org_name).join(', ')
  throw new Fault('conflict', `several organisations have a workflow with this id: ${orgs}`, {
    hint: 'log in as a user of the right organisation',
  })
}

/** The current version, or the one with this digest. */
export async function readVersion(
  db: Kysely<WorkflowTables>,
  { org, id, digest }: Pick<WorkflowRow, 'org' | 'id' | 'digest'>,
): Promise<VersionRow> {
  return db
    .selectFrom('workflow_version')
    .selectAll()
    .where('org', '=', org)
    .where('workflow', '=', id)
    .where('digest', '=', digest)
    .executeTakeFirstOrThrow()
}

/** Without their content. */
export async function listVersions(
  db: Kysely<WorkflowTables>,
  { org, id }: Pick<WorkflowRow, 'org' | 'id'>,
): Promise<Pick<VersionRow, 'version' | 'digest' | 'made_by' | 'made_at'>[]> {
  return db
    .selectFrom('workflow_version')
    .select(['version', 'digest', 'made_by', 'made_at'])
    .where('org', '=', org)
    .where('workflow', '=', id)
    .orderBy('made_at', 'desc')
    .orderBy('digest')
    .execute()
}

export interface NewVersion {
  readonly id: string
  readonly category: CategoryRow
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly version: string
  readonly namespace: string
  readonly called: string
  readonly digest: string
  readonly text: string
  readonly document: RunValues
  readonly form: RunValues | undefined
}

/** The workflow with this id in the importing user's organisation, even if deleted. */
export async function findForImport(
  tx: WorkflowTx,
  { org }: Pick<WorkflowPrincipal, 'org'>,
  id: string,
): Promise<WorkflowRow | undefined> {
  return tx
    .selectFrom('workflow')
    .selectAll()
    .where('org', '=', org)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** The workflow that a definition without an id refers to: the one with the same namespace and name. */
export async function findByCalled(
  tx: WorkflowTx,
  { org }: Pick<WorkflowPrincipal, 'org'>,
  namespace: string,
  called: string,
): Promise<WorkflowRow | undefined> {
  return tx
    .selectFrom('workflow')
    .selectAll('workflow')
    .where('org', '=', org)
    .where('deleted_at', 'is', null)
    .where((it) =>
      it.exists(
        it
          .selectFrom('workflow_version as v')
          .select('v.digest')
          .whereRef('v.org', '=', 'workflow.org')
          .whereRef('v.workflow', '=', 'workflow.id')
          .whereRef('v.digest', '=', 'workflow.digest')
          .where('v.namespace', '=', namespace)
          .where('v.called', '=', called),
      ),
    )
    .orderBy('id')
    .forUpdate()
    .executeTakeFirst()
}

/** Stores a version and makes it the current one. */
export async function saveVersion(
  tx: WorkflowTx,
  principal: WorkflowPrincipal,
  version: NewVersion,
): Promise<void> {
  const { id, category, name, description, digest } = version
  const now = {
    category: category.id,
    category_name: category.name,
    name,
    description,
    digest,
    tags: [...version.tags],
    version: version.version,
  }
  const by = {
    org: principal.org,
    org_name: principal.orgName,
    owner: principal.account,
    owner_name: principal.user,
  }
  try {
    await tx
      .insertInto('workflow')
      .values({ ...by, id, ...now })
      .onConflict((on) =>
        on.columns(['org', 'id']).doUpdateSet({
          ...now,
          deleted_at: null,
          changed_at: sql<Date>`clock_timestamp()`,
        }),
      )
      .execute()
  } catch (error) {
    if (brokenConstraint(error) !== 'workflow_name') throw error
    throw new Fault('conflict', `another workflow ${name} exists already in ${category.path}`, {
      cause: error,
      hint: 'rename or delete it, or import into another folder',
    })
  }
  const { text, document, form, namespace, called } = version
  await tx
    .insertInto('workflow_version')
    .values({
      org: principal.org,
      workflow: id,
      digest,
      version: version.version,
      text,
      made_by: principal.user,
      namespace,
      called,
      document: jsonText(document),
      form: form === undefined ? null : jsonText(form),
    })
    .onConflict((on) => on.columns(['org', 'workflow', 'digest']).doNothing())
    .execute()
}

/** What still uses it: active runs, and schedules. */
export async function inUse(
  tx: WorkflowTx,
  { org, id }: WorkflowRow,
): Promise<{ readonly runs: readonly string[]; readonly schedules: readonly string[] }> {
  const runs = await tx
    .selectFrom('execution')
    .select('id')
    .where('org', '=', org)
    .where('workflow', '=', id)
    .where('state', 'not in', ['completed', 'failed', 'canceled'])
    .execute()
  const schedules = await tx
    .selectFrom('schedule')
    .select('id')
    .where('org', '=', org)
    .where('workflow', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
  return { runs: runs.map((each) => each.id), schedules: schedules.map((each) => each.id) }
}

export async function deleteWorkflow(tx: WorkflowTx, { org, id }: WorkflowRow): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('workflow')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound()
}
