import { element, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { AccessTokenRow } from '../store/access-tokens.ts'

/** `token`: only in the answer that makes it. */
export function accessToken(
  { id, name, made_at, used_at }: AccessTokenRow,
  { dialect }: Asker,
  hrefs: Hrefs,
  token?: string,
): Element {
  const href = hrefs.accessToken(id)
  return element(
    'AccessToken',
    { name, id: dialect.urn('token', id), type: dialect.media('accessToken'), href },
    link('remove', href),
    element('DateCreated', {}, made_at.toISOString()),
    used_at !== null && element('LastUsed', {}, used_at.toISOString()),
    token !== undefined && element('Token', {}, token),
  )
}

export function accessTokens(rows: readonly AccessTokenRow[], asker: Asker, hrefs: Hrefs): Element {
  const { dialect, who } = asker
  const href = hrefs.to(at.accessTokens)
  return element(
    'AccessTokens',
    { type: dialect.media('accessTokens'), href },
    !who.script && link('add', href, { type: dialect.media('accessTokenParams') }),
    ...rows.map((row) => accessToken(row, asker, hrefs)),
  )
}
