import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import { sql, type Kysely, type Selectable } from 'kysely'

import { unknownThing, type Who } from '../identity/rights.ts'
import type { CategoryRow } from './categories.ts'
import type { Database, Tx, Values } from './database.ts'
import { jsonText } from './json-text.ts'

export type WorkflowRow = Selectable<Database['workflow']>
export type VersionRow = Selectable<Database['workflow_version']>
export interface FoundWorkflow extends WorkflowRow {
  /** The folder that it is in, from the outermost on. */
  readonly path: string
}

/** An id is unique in an organisation. Whoever sees them all gets their own first, and is told when it is not clear which is meant. */
export async function findWorkflow(
  db: Kysely<Database>,
  id: string,
  who: Pick<Who, 'org'>,
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
  const own = found.find(({ org }) => org === who.org)
  if (own || found.length < 2) return own ?? found[0]
  const orgs = found.map((each) => each.org_name).join(', ')
  throw new Fault('conflict', `several organisations have a workflow of this id: ${orgs}`, {
    hint: 'ask as a user of the organisation that is meant',
  })
}

/** As it is now, or as one version was. */
export async function readVersion(
  db: Kysely<Database>,
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

/** Without what is in them. */
export async function listVersions(
  db: Kysely<Database>,
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
  readonly document: Values
  readonly form: Values | undefined
}

/** What is there under this id, in the organisation of whoever imports; also when it was deleted. */
export async function findForImport(
  tx: Tx,
  { org }: Pick<Who, 'org'>,
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

/** The one that a definition without an id means: what other workflows call by the same name. */
export async function findByCalled(
  tx: Tx,
  { org }: Pick<Who, 'org'>,
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

/** Writes a version down and makes it what the workflow is from now on. */
export async function saveVersion(tx: Tx, who: Who, version: NewVersion): Promise<void> {
  const { id, category, name, description, digest } = version
  const now = {
    ...{ category: category.id, category_name: category.name, name, description, digest },
    ...{ tags: [...version.tags], version: version.version },
  }
  const by = { org: who.org, org_name: who.orgName, owner: who.account, owner_name: who.user }
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
    throw new Fault('conflict', `there is another workflow ${name} in ${category.path} already`, {
      cause: error,
      hint: 'rename or delete that one, or import into another folder',
    })
  }
  const { text, document, form, namespace, called } = version
  await tx
    .insertInto('workflow_version')
    .values({
      ...{ org: who.org, workflow: id, digest, version: version.version, text, made_by: who.user },
      ...{ namespace, called },
      document: jsonText(document),
      form: form === undefined ? null : jsonText(form),
    })
    .onConflict((on) => on.columns(['org', 'workflow', 'digest']).doNothing())
    .execute()
}

/** What still needs it: runs that have not ended, and schedules. */
export async function inUse(
  tx: Tx,
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

export async function deleteWorkflow(tx: Tx, { org, id }: WorkflowRow): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('workflow')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw unknownThing()
}
