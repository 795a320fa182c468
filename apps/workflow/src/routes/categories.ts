import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import { children, localName, readXml, text } from '@skerry/xml'
import { Type } from 'typebox'

import { at, Hrefs } from '../addresses.ts'
import { categoriesDocument, categoryDocument } from '../documents/category.ts'
import type { Asker } from '../http/asker.ts'
import { things } from '../http/things.ts'
import { unknownThing } from '../identity/rights.ts'
import { parseListQuery } from '../query/workflow-list.ts'
import { route } from '../route.ts'
import {
  addCategory,
  deleteCategory,
  listCategories,
  type CategoryRow,
} from '../store/categories.ts'
import { listWorkflows } from '../store/list-workflows.ts'
import type { RequestWorld } from '../world.ts'

const INSIDE_MAX = 1000

interface NewCategory {
  readonly name: string
  readonly description: string
  readonly parent: string | undefined
}

const category: Body<NewCategory> = {
  media: 'application/xml or application/json',
  shape: 'category',
  read(raw) {
    const body = raw.trim()
    const found = body.startsWith('<') ? fromXml(body) : fromJson(body)
    const { name, description = '', 'parent-category-id': parent } = found
    if (typeof name !== 'string') throw new Fault('invalid', 'a category needs a name')
    return {
      ...{ name, description: String(description) },
      parent: typeof parent === 'string' && parent !== '' ? parent : undefined,
    }
  },
}

const fromXml = (body: string): Record<string, unknown> =>
  Object.fromEntries(children(readXml(body)).map((each) => [localName(each.name), text(each)]))

function fromJson(body: string): Record<string, unknown> {
  try {
    const given: unknown = JSON.parse(body)
    if (typeof given === 'object' && given !== null) return { ...given }
  } catch (cause) {
    throw new Fault('invalid', 'the body must be a category, in XML or JSON', { cause })
  }
  throw new Fault('invalid', 'a category is an object')
}

async function describe(world: RequestWorld, { who }: Asker, row: CategoryRow) {
  const query = parseListQuery({})
  return world.as(who, async (tx) => {
    const categories = await listCategories(tx, row.id)
    const workflows = await listWorkflows(tx, query, { limit: INSIDE_MAX, inside: row })
    const hrefs = new Hrefs(world.base)
    return { status: 200, body: categoryDocument(row, { categories, workflows }, { who, hrefs }) }
  })
}

export const categories = [
  route({
    name: 'listCategories',
    method: 'GET',
    path: at.categories,
    permission: 'workflow:read',
    query: Type.Object({
      categoryType: Type.Optional(Type.String({ pattern: '^WorkflowCategory$' })),
      isRoot: Type.Optional(Type.String({ pattern: '^(true|false)$' })),
    }),
    answers: { 200: 'inventory-items' },
    doc: 'The folders of workflows; isRoot=true: only the outermost.',
    async handle(world, { query, who }) {
      const inside = query.isRoot === 'true' ? null : undefined
      const rows = await world.as(who, (tx) => listCategories(tx, inside))
      return { status: 200, body: categoriesDocument(rows, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'createCategory',
    method: 'POST',
    path: at.categories,
    permission: 'workflow:edit',
    takes: category,
    answers: { 201: 'category' },
    doc: 'Makes a folder: name, description, and parent-category-id for one inside of another.',
    async handle(world, { body, who }) {
      const row = await world.as(who, async (tx) => {
        const { parent: id, name, description } = body
        const parent =
          id === undefined ? undefined : await things.category(tx, id, { who, found: {} })
        if (id !== undefined && parent?.org !== who.org) throw unknownThing()
        return addCategory(tx, { org: who.org, parent, name, description })
      })
      const hrefs = new Hrefs(world.base)
      const inside = { categories: [], workflows: [] }
      return {
        status: 201,
        headers: { location: hrefs.category(row.id) },
        body: categoryDocument(row, inside, { who, hrefs }),
      }
    },
  }),
  route({
    name: 'readCategory',
    method: 'GET',
    path: at.category,
    permission: 'workflow:read',
    answers: { 200: 'category' },
    doc: 'A folder, with the folders and workflows in it.',
    handle: (world, asker) => describe(world, asker, asker.params.category),
  }),
  route({
    name: 'readCatalogCategory',
    method: 'GET',
    path: at.catalogCategory,
    permission: 'workflow:read',
    answers: { 200: 'category' },
    doc: `As GET ${at.category}.`,
    handle: (world, asker) => describe(world, asker, asker.params.category),
  }),
  route({
    name: 'deleteCategory',
    method: 'DELETE',
    path: at.category,
    permission: 'workflow:edit',
    answers: { 204: 'nothing' },
    doc: 'Deletes an empty folder.',
    async handle(world, { params, who }) {
      await world.as(who, (tx) => deleteCategory(tx, params.category))
      return { status: 204 }
    },
  }),
]
