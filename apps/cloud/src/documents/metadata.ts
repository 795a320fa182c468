import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link } from '../http/links.ts'
import { may } from '../identity/authorize.ts'
import type { MetadataRow } from '../store/metadata.ts'

/** Values have types since 5.1; before that, all are text. */
const valueOf = ({ type, value }: MetadataRow, { version }: Asker): Element =>
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

/** `href`: of the thing that it is about. */
export function metadata(rows: readonly MetadataRow[], of: string, asker: Asker): Element {
  const type = asker.dialect.media('metadata')
  const href = `${of}/metadata`
  return element(
    'Metadata',
    { type, href },
    link('up', of),
    may(asker.who, 'vm:edit') && link('add', href, { type }),
    ...rows.map((row) =>
      element(
        'MetadataEntry',
        { type: asker.dialect.media('metadata.value'), href: atKey(href, row.key) },
        element('Key', {}, row.key),
        valueOf(row, asker),
      ),
    ),
  )
}

export function metadataValue(row: MetadataRow, of: string, asker: Asker): Element {
  const type = asker.dialect.media('metadata.value')
  const href = atKey(`${of}/metadata`, row.key)
  const edits = may(asker.who, 'vm:edit')
  return element(
    'MetadataValue',
    { type, href },
    link('up', `${of}/metadata`, { type: asker.dialect.media('metadata') }),
    edits && link('edit', href, { type }),
    edits && link('remove', href),
    valueOf(row, asker),
  )
}
