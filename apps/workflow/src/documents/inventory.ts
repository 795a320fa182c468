import { element, renderDocument, renderElement } from '@skerry/xml'

import type { Hrefs } from '../addresses.ts'
import { rooted } from '../http/send.ts'
import { may, type Who } from '../identity/rights.ts'
import type { ListedWorkflow } from '../store/list-workflows.ts'
import { link, type Link } from './link.ts'

export interface Listing {
  readonly who: Who
  readonly hrefs: Hrefs
  /** Missing: it was asked not to count. */
  readonly total: number | undefined
  readonly start: number | undefined
  /** Attributes to tell; missing: all. */
  readonly keys: ReadonlySet<string> | undefined
}

/** One workflow of a list. */
export function listedLink(row: ListedWorkflow, { who, hrefs, keys }: Listing): Link {
  const href = hrefs.workflow(row.id)
  const all = {
    ...{ id: row.id, name: row.name, description: row.description, type: 'Workflow' },
    ...{ version: row.version, canExecute: may(who, 'workflow:run') },
    ...{ canEdit: may(who, 'workflow:edit'), customIcon: false, categoryName: row.category_name },
    ...{ categoryHref: hrefs.category(row.category), itemHref: href },
    ...(row.tags.length > 0 && { globalTags: row.tags.map((each) => `tag:${each}`).join(' ') }),
  }
  if (!keys) return { rel: 'down', href, attributes: all }
  const told = Object.entries(all).filter(([name]) => keys.has(name))
  return { rel: 'down', href, attributes: Object.fromEntries(told) }
}

const ROOT = 'inventory-items'

/** The list as text, as its parts come: never more than one of them is in memory. */
export async function* inventoryXml(
  parts: AsyncIterable<readonly ListedWorkflow[]>,
  listing: Listing,
): AsyncGenerator<string, void> {
  const { total, start } = listing
  const [head = '', tail = ''] = renderDocument(
    rooted(element(ROOT, { total, start }, MARK)),
  ).split(MARK)
  yield head
  for await (const part of parts) {
    yield part.map((row) => renderElement(link(listedLink(row, listing)).xml)).join('')
  }
  yield tail
}
/** Of a range that means nothing to anybody: what stands before and after it is written around the parts. */
const MARK = '\u{E000}'

export async function* inventoryJson(
  parts: AsyncIterable<readonly ListedWorkflow[]>,
  listing: Listing,
): AsyncGenerator<string, void> {
  const { total, start } = listing
  let before = '{"link":['
  for await (const part of parts) {
    if (part.length === 0) continue
    yield before + part.map((row) => JSON.stringify(link(listedLink(row, listing)).json)).join()
    before = ','
  }
  const rest = JSON.stringify({
    ...(total !== undefined && { total }),
    ...(start !== undefined && { start }),
  })
  const opened = before === ',' ? '' : before
  yield `${opened}]${rest === '{}' ? '}' : `,${rest.slice(1)}`}\n`
}
