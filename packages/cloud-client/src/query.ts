import { Fault } from '@skerry/fault'
import { childrenByLocalName, localName, type Element } from '@skerry/xml'

import { linkOf, type Cloud } from './cloud.ts'

export interface Question {
  readonly type: string
  /** As the query service reads it: `status==POWERED_ON;name==web*`. */
  readonly filter?: string
  readonly fields?: readonly string[]
  readonly sortAsc?: string
  readonly sortDesc?: string
  /** The most records that are read; more than these are not asked for. */
  readonly limit?: number
}

/** As many as the service gives at once. */
const PAGE_SIZE = 128

/** One record: its attributes, by name. */
export type Record = Readonly<{ [name: string]: string }>

/** The records, page by page, as the links of each page lead on. */
export async function* query(
  cloud: Cloud,
  { limit = Infinity, ...asked }: Question,
  signal?: AbortSignal,
): AsyncGenerator<Record, void> {
  let href: string | undefined = addressOf(asked, limit)
  const seen = new Set<string>()
  for (let left = limit; href !== undefined && left > 0;) {
    // A page that leads to one that was read before would never come to an end.
    if (seen.has(href)) throw new Fault('unavailable', 'the pages of the query lead in a circle')
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
    ...{ type, format: 'records', pageSize: String(Math.max(1, Math.min(limit, PAGE_SIZE))) },
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

/** A value as it must stand in a filter, whatever is in it. */
export const quoted = (value: string): string => value.replace(/[\\,;()*]/g, '\\$&')

/** The children of a document's section. */
export const inside = (document: Element, section: string, name: string): Element[] =>
  childrenByLocalName(childrenByLocalName(document, section)[0], name)
