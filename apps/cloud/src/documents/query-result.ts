import { element, type AttributeInput, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import { may } from '../domain/authorize.ts'
import type { EventCursors } from '../feeds/event-cursors.ts'
import { link, type Hrefs } from '../http/links.ts'
import { saidFor, type Attribute, type ReferenceTarget } from '../query/attribute.ts'
import { writeCursor } from '../query/cursor.ts'
import { formats, type RecordFormat, type Query } from '../query/query.ts'
import { recordTypes, type RecordType } from '../query/record-types.ts'
import type { RecordPage, RecordRow } from '../query/records.ts'

export interface ResultPage {
  readonly query: Query
  readonly found: RecordPage
  /** The requested path and parameters; the links to other pages differ only in their numbers. */
  readonly path: string
  readonly requested: URLSearchParams
  /** Event ids as the organisation sees them, if the records are events. */
  readonly events: EventCursors | undefined
}

export function queryResult(page: ResultPage, caller: Caller, hrefs: Hrefs): Element {
  const { query, found, path, requested } = page
  const { type, format } = query
  const [root = '', one = ''] =
    format === 'references' ? (type.references ?? []) : ['QueryResultRecords', type.element]
  const { total } = found
  return element(
    root,
    {
      total,
      pageSize: query.pageSize,
      page: query.page,
      name: type.name,
      type: mediaOf(format, caller),
      href: addressOf(hrefs, path, requested, {}),
    },
    ...formatsOf(type)
      .filter((each) => each !== format)
      .map((each) =>
        link('alternate', addressOf(hrefs, path, requested, { format: each }), {
          type: mediaOf(each, caller),
        }),
      ),
    ...pagingLinks(page, caller, hrefs),
    ...found.rows.map((row) => element(one, attributesOf(page, row, caller, hrefs))),
  )
}

function pagingLinks(
  { query, found, path, requested, events }: ResultPage,
  caller: Caller,
  hrefs: Hrefs,
): Element[] {
  const { page, pageSize, format } = query
  const { total, end } = found
  const last = Math.max(1, Math.ceil(total / pageSize))
  const to = (rel: string, wanted: number, after?: string): Element => {
    const numbers = { page: String(wanted), pageSize: String(pageSize), after }
    return link(rel, addressOf(hrefs, path, requested, numbers), { type: mediaOf(format, caller) })
  }
  return [
    ...(page > 1 ? [to('firstPage', 1), to('previousPage', page - 1)] : []),
    ...(page < last
      ? [to('nextPage', page + 1, end && writeCursor(end, events)), to('lastPage', last)]
      : []),
  ]
}

/** Every query that the caller may run, in every format, as an address that parameters can be added to. */
export function queryList(caller: Caller, hrefs: Hrefs): Element {
  const mine = [...recordTypes.values()].filter(
    ({ permission, shared }) => may(caller.principal, permission) || shared,
  )
  return element(
    'QueryList',
    { type: caller.dialect.media('query.queryList'), href: hrefs.to(at.query) },
    ...mine.flatMap((type) =>
      formatsOf(type).map((format) =>
        link('down', `${hrefs.to(at.query)}?type=${type.name}&format=${format}`, {
          type: mediaOf(format, caller),
          name: type.name,
        }),
      ),
    ),
  )
}

const formatsOf = ({ references }: RecordType): readonly RecordFormat[] =>
  references ? formats : formats.filter((each) => each !== 'references')

const mediaOf = (format: RecordFormat, { dialect }: Caller): string =>
  dialect.media(`query.${format}`)

/** The same query with other parameters; undefined removes one, such as a cursor, which belongs to one page only. */
function addressOf(
  hrefs: Hrefs,
  path: string,
  requested: URLSearchParams,
  changed: Readonly<Record<string, string | undefined>>,
): string {
  const parameters = new URLSearchParams(requested)
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, value)
  }
  const all = parameters.toString()
  return all === '' ? hrefs.to(path) : `${hrefs.to(path)}?${all}`
}

function attributesOf(
  { query: { type, fields, format }, events }: ResultPage,
  row: RecordRow,
  { dialect }: Caller,
  hrefs: Hrefs,
): AttributeInput {
  const ids = format === 'idrecords'
  const pointTo: PointTo = (resource, id, there = true) => {
    if (ids) return dialect.urn(urns[resource], id)
    return there ? hrefTo[resource](hrefs, id) : undefined
  }
  const shown = Object.fromEntries(
    fields.map(([name, attribute]) => [
      name,
      attributeValue(name, attribute, row, { pointTo, dialect }),
    ]),
  )
  if (type.resource === 'event') {
    const [tx = '0', seq = '0'] = row.key.split('-')
    return { ...shown, id: ids ? dialect.urn('event', events?.idOf({ tx, seq }) ?? '') : undefined }
  }
  const own = pointTo(type.resource, row.key)
  if (format === 'references')
    return { ...shown, type: dialect.media(medias[type.resource]), href: own }
  return { ...shown, [ids ? 'id' : 'href']: own }
}

/** A deleted resource still has an id, but no address. */
type PointTo = (resource: ReferenceTarget, id: string, there?: boolean) => string | undefined

function attributeValue(
  name: string,
  attribute: Attribute,
  row: RecordRow,
  { pointTo, dialect }: { readonly pointTo: PointTo; readonly dialect: Caller['dialect'] },
): AttributeInput[string] {
  if (attribute.is === 'constant') return attribute.value
  const value = row[name] ?? undefined
  if (value instanceof Date) return value.toISOString()
  if (attribute.is === 'word' && typeof value === 'string') {
    return saidFor(attribute, dialect, value)
  }
  if (attribute.is !== 'reference' || value === undefined) return value as AttributeInput[string]
  const { to } = attribute
  return typeof to === 'string'
    ? pointTo(to, value as string)
    : pointTo(
        row[`${name}:thing`] as ReferenceTarget,
        value as string,
        row[`${name}:there`] as boolean,
      )
}

const hrefTo: Readonly<Record<ReferenceTarget, (hrefs: Hrefs, id: string) => string>> = {
  vm: (hrefs, id) => hrefs.vm(id),
  vapp: (hrefs, id) => hrefs.vapp(id),
  vdc: (hrefs, id) => hrefs.vdc(id),
  org: (hrefs, id) => hrefs.org(id),
  task: (hrefs, id) => hrefs.task(id),
  template: (hrefs, id) => hrefs.template(id),
  catalog: (hrefs, id) => hrefs.catalog(id),
  host: (hrefs, id) => hrefs.adminHost(id),
  network: (hrefs, id) => hrefs.network(id),
  edgeGateway: (hrefs, id) => hrefs.edgeGateway(id),
  externalNetwork: (hrefs, id) => hrefs.externalNetwork(id),
  securityGroup: (hrefs, id) => hrefs.securityGroup(id),
}
const urns: Readonly<Record<ReferenceTarget, string>> = {
  vm: 'vm',
  vapp: 'vapp',
  vdc: 'vdc',
  org: 'org',
  task: 'task',
  host: 'host',
  template: 'vapptemplate',
  network: 'network',
  edgeGateway: 'gateway',
  externalNetwork: 'externalnetwork',
  securityGroup: 'securitygroup',
  catalog: 'catalog',
}
const medias: Readonly<Record<ReferenceTarget, string>> = {
  vm: 'vm',
  vapp: 'vApp',
  vdc: 'vdc',
  org: 'org',
  task: 'task',
  host: 'admin.host',
  template: 'vAppTemplate',
  catalog: 'catalog',
  network: 'orgVdcNetwork',
  edgeGateway: 'admin.edgeGateway',
  externalNetwork: 'admin.externalNetwork',
  securityGroup: 'admin.securityGroup',
}
