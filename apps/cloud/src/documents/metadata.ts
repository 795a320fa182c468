import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { may } from '../domain/authorize.ts'
import { link } from '../http/links.ts'
import type { MetadataRow } from '../inventory/metadata.ts'

/** Values have types since 5.1; before that, all are text. */
const valueOf = ({ type, value }: MetadataRow, { version }: Caller): Element =>
  version === '1.5'
    ? element('Value', {}, value)
    : element(
        'TypedValue',
        {
          'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
          'xsi:type': `Metadata${type}Value`,
        },
        element('Value', {}, value),
      )

const atKey = (href: string, key: string): string => `${href}/${encodeURIComponent(key)}`

/** `of`: the href of the resource that it describes. */
export function metadata(rows: readonly MetadataRow[], of: string, caller: Caller): Element {
  const type = caller.dialect.media('metadata')
  const href = `${of}/metadata`
  return element(
    'Metadata',
    { type, href },
    link('up', of),
    may(caller.principal, 'vm:edit') && link('add', href, { type }),
    ...rows.map((row) =>
      element(
        'MetadataEntry',
        { type: caller.dialect.media('metadata.value'), href: atKey(href, row.key) },
        element('Key', {}, row.key),
        valueOf(row, caller),
      ),
    ),
  )
}

export function metadataValue(row: MetadataRow, of: string, caller: Caller): Element {
  const type = caller.dialect.media('metadata.value')
  const href = atKey(`${of}/metadata`, row.key)
  const edits = may(caller.principal, 'vm:edit')
  return element(
    'MetadataValue',
    { type, href },
    link('up', `${of}/metadata`, { type: caller.dialect.media('metadata') }),
    edits && link('edit', href, { type }),
    edits && link('remove', href),
    valueOf(row, caller),
  )
}
