import { element, type AttributeInput, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { may } from '../identity/authorize.ts'
import { saidFor, type Attribute, type Thing } from '../query/attribute.ts'
import { writeCursor } from '../query/cursor.ts'
import { eventId } from '../query/event-id.ts'
import { formats, type Format, type Query } from '../query/query.ts'
import { recordTypes, type RecordType } from '../query/record-types.ts'
import type { Found, RecordRow } from '../store/records.ts'

export interface Page {
  readonly query: Query
  readonly found: Found
  /** Which address was asked, and how: the other pages differ in their numbers only. */
  readonly path: string
  readonly asked: URLSearchParams
}

export function queryResult(page: Page, asker: Asker, hrefs: Hrefs): Element {
  const { query, found, path, asked } = page
  const { type, format } = query
  const [root = '', one = ''] =
    format === 'references' ? (type.references ?? []) : ['QueryResultRecords', type.element]
  const { total } = found
  return element(
    root,
    {
      ...{ total, pageSize: query.pageSize, page: query.page, name: type.name },
      ...{ type: mediaOf(format, asker), href: addressOf(hrefs, path, asked, {}) },
    },
    ...formatsOf(type)
      .filter((each) => each !== format)
      .map((each) =>
        link('alternate', addressOf(hrefs, path, asked, { format: each }), {
          type: mediaOf(each, asker),
        }),
      ),
    ...pagingLinks(page, asker, hrefs),
    ...found.rows.map((row) => element(one, attributesOf(query, row, asker, hrefs))),
  )
}

function pagingLinks({ query, found, path, asked }: Page, asker: Asker, hrefs: Hrefs): Element[] {
  const { page, pageSize, format } = query
  const { total, end } = found
  const last = Math.max(1, Math.ceil(total / pageSize))
  const to = (rel: string, wanted: number, after?: string): Element => {
    const numbers = { page: String(wanted), pageSize: String(pageSize), after }
    return link(rel, addressOf(hrefs, path, asked, numbers), { type: mediaOf(format, asker) })
  }
  return [
    ...(page > 1 ? [to('firstPage', 1), to('previousPage', page - 1)] : []),
    ...(page < last
      ? [to('nextPage', page + 1, end && writeCursor(end)), to('lastPage', last)]
      : []),
  ]
}

/** Every query that the asker may run, in every format, as an address that parameters can be added to. */
export function queryList(asker: Asker, hrefs: Hrefs): Element {
  const mine = [...recordTypes.values()].filter(({ permission }) => may(asker.who, permission))
  return element(
    'QueryList',
    { type: asker.dialect.media('query.queryList'), href: hrefs.to(at.query) },
    ...mine.flatMap((type) =>
      formatsOf(type).map((format) =>
        link('down', `${hrefs.to(at.query)}?type=${type.name}&format=${format}`, {
          ...{ type: mediaOf(format, asker), name: type.name },
        }),
      ),
    ),
  )
}

const formatsOf = ({ references }: RecordType): readonly Format[] =>
  references ? formats : formats.filter((each) => each !== 'references')

const mediaOf = (format: Format, { dialect }: Asker): string => dialect.media(`query.${format}`)

/** The same question with other numbers. A cursor is of one page: it goes on to no other. */
function addressOf(
  hrefs: Hrefs,
  path: string,
  asked: URLSearchParams,
  changed: Readonly<Record<string, string | undefined>>,
): string {
  const parameters = new URLSearchParams(asked)
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, value)
  }
  const all = parameters.toString()
  return all === '' ? hrefs.to(path) : `${hrefs.to(path)}?${all}`
}

function attributesOf(
  { type, fields, format }: Query,
  row: RecordRow,
  { dialect }: Asker,
  hrefs: Hrefs,
): AttributeInput {
  const ids = format === 'idrecords'
  const pointTo: PointTo = (thing, id, there = true) => {
    if (ids) return dialect.urn(urns[thing], id)
    return there ? hrefTo[thing](hrefs, id) : undefined
  }
  const shown = Object.fromEntries(
    fields.map(([name, attribute]) => [name, written(name, attribute, row, { pointTo, dialect })]),
  )
  if (type.thing === 'event') {
    return { ...shown, id: ids ? dialect.urn('event', eventId(row.key)) : undefined }
  }
  const own = pointTo(type.thing, row.key)
  if (format === 'references')
    return { ...shown, type: dialect.media(medias[type.thing]), href: own }
  return { ...shown, [ids ? 'id' : 'href']: own }
}

/** What is gone has an id still, and no address. */
type PointTo = (thing: Thing, id: string, there?: boolean) => string | undefined

function written(
  name: string,
  attribute: Attribute,
  row: RecordRow,
  { pointTo, dialect }: { readonly pointTo: PointTo; readonly dialect: Asker['dialect'] },
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
    : pointTo(row[`${name}:thing`] as Thing, value as string, row[`${name}:there`] as boolean)
}

const hrefTo: Readonly<Record<Thing, (hrefs: Hrefs, id: string) => string>> = {
  vm: (hrefs, id) => hrefs.vm(id),
  vapp: (hrefs, id) => hrefs.vapp(id),
  vdc: (hrefs, id) => hrefs.vdc(id),
  org: (hrefs, id) => hrefs.org(id),
  task: (hrefs, id) => hrefs.task(id),
  template: (hrefs, id) => hrefs.template(id),
  catalog: (hrefs, id) => hrefs.catalog(id),
  host: (hrefs, id) => hrefs.adminHost(id),
}
const urns: Readonly<Record<Thing, string>> = {
  ...{ vm: 'vm', vapp: 'vapp', vdc: 'vdc', org: 'org', task: 'task', host: 'host' },
  ...{ template: 'vapptemplate', catalog: 'catalog' },
}
const medias: Readonly<Record<Thing, string>> = {
  ...{ vm: 'vm', vapp: 'vApp', vdc: 'vdc', org: 'org', task: 'task', host: 'admin.host' },
  ...{ template: 'vAppTemplate', catalog: 'catalog' },
}
