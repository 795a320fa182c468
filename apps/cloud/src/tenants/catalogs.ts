import type { OrgId } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

export type CatalogRow = Selectable<CloudTables['catalog']>
export type CatalogItemRow = Selectable<CloudTables['catalog_item']>

/** The default catalog, created with the first template of an organisation. */
const FIRST = 'main'

export const catalogsOf = (db: Kysely<CloudTables>, org: OrgId): Promise<CatalogRow[]> =>
  db.selectFrom('catalog').selectAll().where('org', '=', org).orderBy('name').execute()

export const findCatalog = (db: Kysely<CloudTables>, id: string): Promise<CatalogRow | undefined> =>
  db.selectFrom('catalog').selectAll().where('id', '=', id).executeTakeFirst()

export const itemsOf = (db: Kysely<CloudTables>, catalog: CatalogRow): Promise<CatalogItemRow[]> =>
  db
    .selectFrom('catalog_item')
    .selectAll()
    .where('org', '=', catalog.org)
    .where('catalog', '=', catalog.id)
    .orderBy('name')
    .execute()

export const findCatalogItem = (
  db: Kysely<CloudTables>,
  id: string,
): Promise<CatalogItemRow | undefined> =>
  db.selectFrom('catalog_item').selectAll().where('id', '=', id).executeTakeFirst()

/** Every template is in a catalog, because users find templates only there. */
export async function addToCatalog(
  db: Kysely<CloudTables>,
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
