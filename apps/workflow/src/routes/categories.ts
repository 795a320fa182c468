import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import type { Body } from '@skerry/service'
import { children, localName, readXml, text } from '@skerry/xml'

import type { WorkflowRequestContext } from '../context.ts'
import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { categoriesDocument, categoryDocument } from '../documents/category.ts'
import type { WorkflowCaller } from '../http/caller.ts'
import { workflowFinders } from '../http/path-workflows.ts'
import { route } from '../http/route.ts'
import { notFound } from '../identity/rights.ts'
import { parseListQuery } from '../query/workflow-list.ts'
import {
  addCategory,
  deleteCategory,
  listCategories,
  type CategoryRow,
} from '../store/categories.ts'
import { listWorkflows } from '../store/list-workflows.ts'

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
      name,
      description: String(description),
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
    throw new Fault('invalid', 'the body must be a category in XML or JSON', { cause })
  }
  throw new Fault('invalid', 'a category must be an object')
}

async function describe(
  context: WorkflowRequestContext,
  { principal }: WorkflowCaller,
  row: CategoryRow,
) {
  const query = parseListQuery({})
  return context.as(principal, async (tx) => {
    const categories = await listCategories(tx, row.id)
    const workflows = await listWorkflows(tx, query, { limit: INSIDE_MAX, inside: row })
    const hrefs = new WorkflowHrefs(context.base)
    return {
      status: 200,
      body: categoryDocument(row, { categories, workflows }, { principal, hrefs }),
    }
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
    doc: 'Lists workflow folders; isRoot=true: only the outermost.',
    async handle(context, { query, principal }) {
      const inside = query.isRoot === 'true' ? null : undefined
      const rows = await context.as(principal, (tx) => listCategories(tx, inside))
      return { status: 200, body: categoriesDocument(rows, new WorkflowHrefs(context.base)) }
    },
  }),
  route({
    name: 'createCategory',
    method: 'POST',
    path: at.categories,
    permission: 'workflow:edit',
    takes: category,
    answers: { 201: 'category' },
    doc: 'Creates a folder: name, description, and parent-category-id for a folder inside another.',
    async handle(context, { body, principal }) {
      const row = await context.as(principal, async (tx) => {
        const { parent: id, name, description } = body
        const parent =
          id === undefined
            ? undefined
            : await workflowFinders.category(tx, id, { principal, found: {} })
        if (id !== undefined && parent?.org !== principal.org) throw notFound()
        return addCategory(tx, { org: principal.org, parent, name, description })
      })
      const hrefs = new WorkflowHrefs(context.base)
      const inside = { categories: [], workflows: [] }
      return {
        status: 201,
        headers: { location: hrefs.category(row.id) },
        body: categoryDocument(row, inside, { principal, hrefs }),
      }
    },
  }),
  route({
    name: 'readCategory',
    method: 'GET',
    path: at.category,
    permission: 'workflow:read',
    answers: { 200: 'category' },
    doc: 'Returns a folder with its folders and workflows.',
    handle: (context, caller) => describe(context, caller, caller.params.category),
  }),
  route({
    name: 'readCatalogCategory',
    method: 'GET',
    path: at.catalogCategory,
    permission: 'workflow:read',
    answers: { 200: 'category' },
    doc: `Same as GET ${at.category}.`,
    handle: (context, caller) => describe(context, caller, caller.params.category),
  }),
  route({
    name: 'deleteCategory',
    method: 'DELETE',
    path: at.category,
    permission: 'workflow:edit',
    answers: { 204: 'nothing' },
    doc: 'Deletes an empty folder.',
    async handle(context, { params, principal }) {
      await context.as(principal, (tx) => deleteCategory(tx, params.category))
      return { status: 204 }
    },
  }),
]
