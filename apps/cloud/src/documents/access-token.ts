import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { AccessTokenRow } from '../tenants/access-tokens.ts'

/** `token`: the secret, only in the response that creates it. */
export const accessToken = (
  row: AccessTokenRow,
  caller: Caller,
  hrefs: Hrefs,
  token?: string,
): Element => document(row, caller, hrefs.accessToken(row.id), token)

function document(
  { id, name, made_at, used_at, expires_at }: AccessTokenRow,
  { dialect }: Caller,
  href: string,
  token?: string,
): Element {
  return element(
    'AccessToken',
    { name, id: dialect.urn('token', id), type: dialect.media('accessToken'), href },
    link('remove', href),
    element('DateCreated', {}, made_at.toISOString()),
    used_at !== null && element('LastUsed', {}, used_at.toISOString()),
    expires_at !== null && element('Expires', {}, expires_at.toISOString()),
    token !== undefined && element('Token', {}, token),
  )
}

export function accessTokens(
  rows: readonly AccessTokenRow[],
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect, principal } = caller
  const href = hrefs.to(at.accessTokens)
  return element(
    'AccessTokens',
    { type: dialect.media('accessTokens'), href },
    !principal.script && link('add', href, { type: dialect.media('accessTokenParams') }),
    ...rows.map((row) => accessToken(row, caller, hrefs)),
  )
}

/** A token of another user, as an administrator sees it. */
export const userToken = (row: AccessTokenRow, caller: Caller, hrefs: Hrefs): Element =>
  document(row, caller, hrefs.userToken(row.id))

/** The tokens of another user, as an administrator sees them. */
export function userTokens(
  { account, rows }: { readonly account: string; readonly rows: readonly AccessTokenRow[] },
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { media } = caller.dialect
  return element(
    'AccessTokens',
    { type: media('accessTokens'), href: hrefs.userTokens(account) },
    link('up', hrefs.adminUser(account), { type: media('admin.user') }),
    ...rows.map((row) => userToken(row, caller, hrefs)),
  )
}
