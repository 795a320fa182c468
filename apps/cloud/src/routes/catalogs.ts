import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { catalog, catalogItem } from '../documents/catalog.ts'
import { resolved, resolver } from '../documents/resolved.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../route.ts'
import { itemsOf } from '../store/catalogs.ts'
import { findTemplate } from '../store/orgs.ts'

export const catalogs = [
  route({
    name: 'readCatalog',
    method: 'GET',
    path: at.catalog,
    permission: 'org:read',
    answers: { 200: 'catalog' },
    doc: 'A catalog, with what stands in it.',
    async handle(world, asker) {
      const row = asker.params.catalog
      const items = await world.as(asker.who, (tx) => itemsOf(tx, row))
      return { status: 200, body: catalog(row, items, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readCatalogItem',
    method: 'GET',
    path: at.catalogItem,
    permission: 'org:read',
    answers: { 200: 'catalogItem' },
    doc: 'One thing in a catalog: the template that it stands for.',
    async handle(world, asker) {
      const row = asker.params.catalogItem
      const template = await world.as(asker.who, (tx) => findTemplate(tx, row.template))
      if (!template) throw new Fault('not-found', 'its template is no more')
      return { status: 200, body: catalogItem(row, template, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readResolver',
    method: 'GET',
    path: at.resolver,
    permission: 'org:read',
    answers: { 200: 'entity' },
    doc: 'The entity resolver: put an id behind this address.',
    async handle({ base }, asker) {
      return { status: 200, body: resolver(asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'resolve',
    method: 'GET',
    path: at.resolved,
    permission: 'org:read',
    answers: { 200: 'entity' },
    doc: 'What an id stands for, a URN or the last part of an href, and where its document is.',
    async handle({ base }, asker) {
      return { status: 200, body: resolved(asker.params.urn, asker, new Hrefs(base)) }
    },
  }),
]
