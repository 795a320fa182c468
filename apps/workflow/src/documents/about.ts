import { at, type Hrefs } from '../addresses.ts'
import { field, repeated, thing, type Document } from './document.ts'

/** The release of the API whose clients are served. */
const API_VERSION = '5.1'

export const aboutDocument = (version: string): Document =>
  thing(
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

export const servicesDocument = (hrefs: Hrefs): Document =>
  repeated(
    'services',
    {},
    'service',
    Object.entries(services).map(([name, path]) =>
      thing('service', { name, href: `${hrefs.to(path)}/` }),
    ),
  )
