import { Fault } from '@skerry/fault'
import { childrenByLocalName, localName, type Element } from '@skerry/xml'

import { linkOf, type Cloud } from './cloud.ts'

export interface Question {
  readonly type: string
  /** In the syntax of the query API: `status==POWERED_ON;name==web*`. */
  readonly filter?: string
  readonly fields?: readonly string[]
  readonly sortAsc?: string
  readonly sortDesc?: string
  /** The maximum number of records to read. */
  readonly limit?: number
}

/** The maximum page size of the query API. */
const PAGE_SIZE = 128

/** One record: its attributes, by name. */
export type Record = Readonly<{ [name: string]: string }>

/** Reads all records, following the nextPage links. */
export async function* query(
  cloud: Cloud,
  { limit = Infinity, ...requested }: Question,
  signal?: AbortSignal,
): AsyncGenerator<Record, void> {
  let href: string | undefined = addressOf(requested, limit)
  const seen = new Set<string>()
  for (let left = limit; href !== undefined && left > 0;) {
    // A link to an earlier page would loop for ever.
    if (seen.has(href)) throw new Fault('unavailable', 'the pages of the query form a loop')
    seen.add(href)
    const page: Element = await cloud.get(href, signal)
    for (const record of recordsIn(page)) {
      if (left-- <= 0) return
      yield record
    }
    href = linkOf(page, 'nextPage')
  }
}

function addressOf({ type, filter, fields, sortAsc, sortDesc }: Question, limit: number): string {
  const parameters = new URLSearchParams({
    type,
    format: 'records',
    pageSize: String(Math.max(1, Math.min(limit, PAGE_SIZE))),
    ...(filter !== undefined && { filter }),
    ...(fields && { fields: fields.join(',') }),
    ...(sortAsc !== undefined && { sortAsc }),
    ...(sortDesc !== undefined && { sortDesc }),
  })
  return `/api/query?${parameters.toString()}`
}

function recordsIn(page: Element): Record[] {
  const own = page.children.filter(
    (each): each is Element => typeof each !== 'string' && localName(each.name) !== 'Link',
  )
  return own.map(({ attributes }) => ({ ...attributes }))
}

/** Escapes a value for a filter. */
export const quoted = (value: string): string => value.replace(/[\\,;()*]/g, '\\$&')

/** The children of a document's section. */
export const inside = (document: Element, section: string, name: string): Element[] =>
  childrenByLocalName(childrenByLocalName(document, section)[0], name)
