import type { OrgId } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { Database } from './database.ts'

export type CatalogRow = Selectable<Database['catalog']>
export type CatalogItemRow = Selectable<Database['catalog_item']>

/** The catalog that an organisation has as soon as it has a template. */
const FIRST = 'main'

export const catalogsOf = (db: Kysely<Database>, org: OrgId): Promise<CatalogRow[]> =>
  db.selectFrom('catalog').selectAll().where('org', '=', org).orderBy('name').execute()

export const findCatalog = (db: Kysely<Database>, id: string): Promise<CatalogRow | undefined> =>
  db.selectFrom('catalog').selectAll().where('id', '=', id).executeTakeFirst()

export const itemsOf = (db: Kysely<Database>, catalog: CatalogRow): Promise<CatalogItemRow[]> =>
  db
    .selectFrom('catalog_item')
    .selectAll()
    .where('org', '=', catalog.org)
    .where('catalog', '=', catalog.id)
    .orderBy('name')
    .execute()

export const findCatalogItem = (
  db: Kysely<Database>,
  id: string,
): Promise<CatalogItemRow | undefined> =>
  db.selectFrom('catalog_item').selectAll().where('id', '=', id).executeTakeFirst()

/** Every template stands in a catalog: what nobody can find nobody can use. */
export async function addToCatalog(
  db: Kysely<Database>,
  {
    org,
    name,
    template,
  }: { readonly org: OrgId; readonly name: string; readonly template: string },
): Promise<void> {
  await db
    .insertInto('catalog')
    .values({ org, name: FIRST })
    .onConflict((conflict) => conflict.columns(['org', 'name']).doNothing())
    .execute()
  const catalog = await db
    .selectFrom('catalog')
    .select('id')
    .where('org', '=', org)
    .where('name', '=', FIRST)
    .executeTakeFirstOrThrow()
  await db.insertInto('catalog_item').values({ org, catalog: catalog.id, name, template }).execute()
}
