import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { Database, Tx } from './database.ts'

export type CategoryRow = Selectable<Database['category']>

/** So deep may folders stand in each other. */
const DEPTH_MAX = 16
const NAME_MAX = 255

export async function findCategory(
  db: Kysely<Database>,
  id: string,
): Promise<CategoryRow | undefined> {
  return db.selectFrom('category').selectAll().where('id', '=', id).executeTakeFirst()
}

/** `inside`: those of one folder; null: the outermost; undefined: all. */
export async function listCategories(
  db: Kysely<Database>,
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
  tx: Tx,
  { org, parent, name, description = '' }: NewCategory,
): Promise<CategoryRow> {
  const path = parent ? `${parent.path}/${name}` : name
  const why = whyNotFolder(name)
  if (why !== undefined) throw new Fault('invalid', why)
  if (path.split('/').length > DEPTH_MAX) {
    throw new Fault('invalid', `folders may stand ${DEPTH_MAX} deep and no deeper`)
  }
  try {
    return await tx
      .insertInto('category')
      .values({ org, parent: parent?.id ?? null, name, description, path })
      .returningAll()
      .executeTakeFirstOrThrow()
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', `there is a folder ${path} already`, { cause: error })
  }
}

function whyNotFolder(name: string): string | undefined {
  if (name.trim() === '' || name.length > NAME_MAX || /[/\p{Cc}]/u.test(name)) {
    return `the name of a folder has 1 to ${NAME_MAX} characters, none of them a slash or a control character`
  }
  return undefined
}

/** The folder at the end of this way, made where it is not there yet: two who do it at once meet in the same. */
export async function ensureCategory(tx: Tx, org: OrgId, path: string): Promise<CategoryRow> {
  let at: CategoryRow | undefined
  for (const name of path.split('/')) {
    const why = whyNotFolder(name)
    if (why !== undefined) throw new Fault('invalid', why)
    const below = at ? `${at.path}/${name}` : name
    if (below.split('/').length > DEPTH_MAX) {
      throw new Fault('invalid', `folders may stand ${DEPTH_MAX} deep and no deeper`)
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

/** Only an empty one. */
export async function deleteCategory(tx: Tx, { org, id, path }: CategoryRow): Promise<void> {
  try {
    const { numDeletedRows } = await tx
      .deleteFrom('category')
      .where('org', '=', org)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) throw new Fault('not-found', 'there is no such folder')
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', `the folder ${path} is not empty`, {
      cause: error,
      hint: 'delete what is in it first; a folder of which runs are still told stays',
    })
  }
}
