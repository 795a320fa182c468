import { element, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { Query } from '../query/query.ts'
import { recordTypes } from '../query/record-types.ts'
import type { RecordRow } from '../store/records.ts'

export interface Page {
  readonly query: Query
  readonly rows: readonly RecordRow[]
  readonly total: number
  /** As it was asked for: the other pages differ in one parameter. */
  readonly asked: URLSearchParams
}

export function queryResult(
  { query, rows, total, asked }: Page,
  { dialect }: Asker,
  hrefs: Hrefs,
): Element {
  const { page, pageSize, type } = query
  const media = dialect.media('query.records')
  const last = Math.max(1, Math.ceil(total / pageSize))
  const to = (rel: string, wanted: number): Element => {
    const parameters = new URLSearchParams(asked)
    parameters.set('page', String(wanted))
    parameters.set('pageSize', String(pageSize))
    return link(rel, `${hrefs.to(at.query)}?${parameters.toString()}`, { type: media })
  }
  return element(
    'QueryResultRecords',
    {
      ...{ total, pageSize, page, name: type.name, type: media },
      href: `${hrefs.to(at.query)}?${asked.toString()}`,
    },
    ...(page > 1 ? [to('firstPage', 1), to('previousPage', page - 1)] : []),
    ...(page < last ? [to('nextPage', page + 1), to('lastPage', last)] : []),
    ...rows.map((row) => element(type.element, { ...shown(query, row), href: hrefs.vm(row.id) })),
  )
}

/** Every query there is, as an address that parameters can be added to. */
export function queryList({ dialect }: Asker, hrefs: Hrefs): Element {
  const type = dialect.media('query.records')
  return element(
    'QueryList',
    { type: dialect.media('query.queryList'), href: hrefs.to(at.query) },
    ...Object.keys(recordTypes).map((name) =>
      link('down', `${hrefs.to(at.query)}?type=${name}&format=records`, { type, name }),
    ),
  )
}

function shown({ type, fields }: Query, row: RecordRow): Record<string, string> {
  const written = fields.map((field) => [field, String(row[type.fields[field]?.column ?? ''])])
  return Object.fromEntries(written) as Record<string, string>
}
