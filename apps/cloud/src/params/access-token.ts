import { Fault } from '@skerry/fault'
import { attribute, element } from '@skerry/xml'

import { readNamed } from './named.ts'
import type { RequestDocument } from './request-document.ts'

/** Days until a token expires. */
export const TOKEN_DAYS_MOST = 3650

interface AccessTokenParams {
  readonly name: string
  /** Missing: until it is revoked. */
  readonly days?: number
}

export function daysIn(text: string, name: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= TOKEN_DAYS_MOST) return days
  throw new Fault('invalid', `${name} must be a whole number from 1 to ${TOKEN_DAYS_MOST}`)
}

export const accessTokenParams: RequestDocument<AccessTokenParams> = {
  media: 'accessTokenParams',
  shape: 'AccessTokenParams',
  example: ({ name = 'nightly' }) => element('AccessTokenParams', { name, days: 90 }),
  read(raw) {
    const { root, name } = readNamed(raw, 'AccessTokenParams')
    const days = attribute(root, 'days')
    return days === undefined ? { name } : { name, days: daysIn(days, 'days') }
  },
}
