import { element, renderDocument, renderElement } from '@skerry/xml'

import { may, type WorkflowPrincipal } from '../identity/rights.ts'
import type { ListedWorkflow } from '../store/list-workflows.ts'
import type { WorkflowHrefs } from './addresses.ts'
import { withNamespace } from './document.ts'
import { link, type DocumentLink } from './link.ts'

export interface Listing {
  readonly principal: WorkflowPrincipal
  readonly hrefs: WorkflowHrefs
  /** Missing: the caller asked not to count. */
  readonly total: number | undefined
  readonly start: number | undefined
  /** Attributes to return; missing: all. */
  readonly keys: ReadonlySet<string> | undefined
}

/** One workflow of a list. */
export function listedLink(row: ListedWorkflow, { principal, hrefs, keys }: Listing): DocumentLink {
  const href = hrefs.workflow(row.id)
  const all = {
    id: row.id,
    name: row.name,
    description: row.description,
    type: 'Workflow',
    version: row.version,
    canExecute: may(principal, 'workflow:run'),
    canEdit: may(principal, 'workflow:edit'),
    customIcon: false,
    categoryName: row.category_name,
    categoryHref: hrefs.category(row.category),
    itemHref: href,
    ...(row.tags.length > 0 && { globalTags: row.tags.map((each) => `tag:${each}`).join(' ') }),
  }
  if (!keys) return { rel: 'down', href, attributes: all }
  const entries = Object.entries(all).filter(([name]) => keys.has(name))
  return { rel: 'down', href, attributes: Object.fromEntries(entries) }
}

const ROOT = 'inventory-items'

/** Streams the list as text; only one part is in memory at a time. */
export async function* inventoryXml(
  parts: AsyncIterable<readonly ListedWorkflow[]>,
  listing: Listing,
): AsyncGenerator<string, void> {
  const { total, start } = listing
  const [head = '', tail = ''] = renderDocument(
    withNamespace(element(ROOT, { total, start }, MARK)),
  ).split(MARK)
  yield head
  for await (const part of parts) {
    yield part.map((row) => renderElement(link(listedLink(row, listing)).xml)).join('')
  }
  yield tail
}
/** A private-use character that marks where the parts go between head and tail. */
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
