import { at, type WorkflowHrefs } from './addresses.ts'
import { field, listDocument, resource, type Document } from './document.ts'

/** The API release whose clients are supported. */
const API_VERSION = '5.1'

export const aboutDocument = (version: string): Document =>
  resource(
    'about',
    {},
    field('version', version),
    field('build-number', version),
    field('api-version', API_VERSION),
  )

const services: Readonly<Record<string, string>> = {
  about: at.about,
  workflows: at.workflows,
  categories: at.categories,
  catalog: at.catalog,
  inventory: at.inventory,
  schedules: at.schedules,
  'user-interactions': at.catalogInteractions,
}

export const servicesDocument = (hrefs: WorkflowHrefs): Document =>
  listDocument(
    'services',
    {},
    'service',
    Object.entries(services).map(([name, path]) =>
      resource('service', { name, href: `${hrefs.to(path)}/` }),
    ),
  )
