import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { WorkflowTables, WorkflowTx } from './database.ts'

export type CategoryRow = Selectable<WorkflowTables['category']>

/** Maximum nesting of folders. */
const DEPTH_MAX = 16
const NAME_MAX = 255

export async function findCategory(
  db: Kysely<WorkflowTables>,
  id: string,
): Promise<CategoryRow | undefined> {
  return db.selectFrom('category').selectAll().where('id', '=', id).executeTakeFirst()
}

/** `inside`: the folders of one folder; null: the outermost; undefined: all. */
export async function listCategories(
  db: Kysely<WorkflowTables>,
  inside?: string | null,
): Promise<CategoryRow[]> {
  const all = db.selectFrom('category').selectAll().orderBy('path').orderBy('id')
  if (inside === undefined) return all.execute()
  return all.where('parent', inside === null ? 'is' : '=', inside).execute()
}

export interface NewCategory {
  readonly org: OrgId
  readonly parent: CategoryRow | undefined
  readonly name: string
  readonly description?: string
}

export async function addCategory(
  tx: WorkflowTx,
  { org, parent, name, description = '' }: NewCategory,
): Promise<CategoryRow> {
  const path = parent ? `${parent.path}/${name}` : name
  const why = whyNotFolder(name)
  if (why !== undefined) throw new Fault('invalid', why)
  if (path.split('/').length > DEPTH_MAX) {
    throw new Fault('invalid', `folders may be nested at most ${DEPTH_MAX} deep`)
  }
  try {
    return await tx
      .insertInto('category')
      .values({ org, parent: parent?.id ?? null, name, description, path })
      .returningAll()
      .executeTakeFirstOrThrow()
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', `the folder ${path} exists already`, { cause: error })
  }
}

function whyNotFolder(name: string): string | undefined {
  if (name.trim() === '' || name.length > NAME_MAX || /[/\p{Cc}]/u.test(name)) {
    return `a folder name must have 1 to ${NAME_MAX} characters, without slashes and control characters`
  }
  return undefined
}

/** Returns the folder at this path and creates missing folders. Safe for concurrent calls. */
export async function ensureCategory(
  tx: WorkflowTx,
  org: OrgId,
  path: string,
): Promise<CategoryRow> {
  let at: CategoryRow | undefined
  for (const name of path.split('/')) {
    const why = whyNotFolder(name)
    if (why !== undefined) throw new Fault('invalid', why)
    const below = at ? `${at.path}/${name}` : name
    if (below.split('/').length > DEPTH_MAX) {
      throw new Fault('invalid', `folders may be nested at most ${DEPTH_MAX} deep`)
    }
    await tx
      .insertInto('category')
      .values({ org, parent: at?.id ?? null, name, path: below })
      .onConflict((on) => on.columns(['org', 'parent', 'name']).doNothing())
      .execute()
    at = await tx
      .selectFrom('category')
      .selectAll()
      .where('org', '=', org)
      .where('name', '=', name)
      .where('parent', at ? '=' : 'is', at?.id ?? null)
      .executeTakeFirstOrThrow()
  }
  if (at) return at
  throw new Fault('invalid', 'a folder must have a name')
}

/** Deletes an empty folder. */
export async function deleteCategory(
  tx: WorkflowTx,
  { org, id, path }: CategoryRow,
): Promise<void> {
  try {
    const { numDeletedRows } = await tx
      .deleteFrom('category')
      .where('org', '=', org)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) throw new Fault('not-found', 'folder not found')
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', `the folder ${path} is not empty`, {
      cause: error,
      hint: 'delete its content first; a folder stays while records of its runs exist',
    })
  }
}
