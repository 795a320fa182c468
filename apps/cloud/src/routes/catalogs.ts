import { Fault } from '@skerry/fault'

import { at } from '../dialect/addresses.ts'
import { catalog, catalogItem } from '../documents/catalog.ts'
import { resolved, resolver } from '../documents/resolved.ts'
import { ExplainQuery, explaining } from '../http/explain-query.ts'
import { Hrefs } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { itemsOf } from '../tenants/catalogs.ts'
import { findTemplate } from '../tenants/orgs.ts'

export const catalogs = [
  readRoute({
    name: 'readCatalog',
    path: at.catalog,
    permission: 'org:read',
    query: ExplainQuery,
    answers: { 200: 'catalog' },
    doc: 'A catalog with its items; with ?unavailable=true, also the actions that are not possible, with the reason.',
    read: (tx, params) => itemsOf(tx, params.catalog),
    show: ({ base }, requested, items) => ({
      status: 200,
      body: catalog(requested.params.catalog, items, explaining(requested), new Hrefs(base)),
    }),
  }),
  readRoute({
    name: 'readCatalogItem',
    path: at.catalogItem,
    permission: 'org:read',
    answers: { 200: 'catalogItem' },
    doc: 'A catalog item, with a link to its template.',
    read: (tx, params) => findTemplate(tx, params.catalogItem.template),
    show({ base }, caller, template) {
      if (!template)
        throw new Fault('not-found', 'the template of this catalog item no longer exists')
      const body = catalogItem(caller.params.catalogItem, template, caller, new Hrefs(base))
      return { status: 200, body }
    },
  }),
  route({
    name: 'readResolver',
    method: 'GET',
    path: at.resolver,
    permission: 'org:read',
    answers: { 200: 'entity' },
    doc: 'The entity resolver: append an id to this address.',
    async handle({ base }, caller) {
      return { status: 200, body: resolver(caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'resolve',
    method: 'GET',
    path: at.resolved,
    permission: 'org:read',
    answers: { 200: 'entity' },
    doc: 'Resolves an id, a URN or the last part of an href, to the address of its document.',
    async handle({ base }, caller) {
      return { status: 200, body: resolved(caller.params.urn, caller, new Hrefs(base)) }
    },
  }),
]
