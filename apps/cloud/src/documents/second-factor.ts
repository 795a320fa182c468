import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { SecondFactorRow, WholeFactors } from '../second-factors/second-factors.ts'

/** Whether the caller may change second factors. */
const isPerson = ({ principal: { script, grant } }: Caller): boolean =>
  script === undefined && grant === undefined

export function secondFactor(row: SecondFactorRow, caller: Caller, hrefs: Hrefs): Element {
  const { id, name, kind, confirmed, made_at, used_at } = row
  const { dialect } = caller
  const href = hrefs.secondFactor(id)
  const type = dialect.media('secondFactorCode')
  return element(
    'SecondFactor',
    {
      name,
      id: dialect.urn('secondfactor', id),
      type: dialect.media('secondFactor'),
      href,
      kind: kind.toUpperCase(),
      confirmed,
    },
    isPerson(caller) && link('remove', href),
    isPerson(caller) && !confirmed && link('confirm', hrefs.confirmSecondFactor(id), { type }),
    element('Created', {}, made_at.toISOString()),
    used_at !== null && element('LastUsed', {}, used_at.toISOString()),
  )
}

export function secondFactors(
  { factors, recoveryCodesLeft, isRequired }: WholeFactors,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { media } = caller.dialect
  const href = hrefs.to(at.secondFactors)
  return element(
    'SecondFactors',
    { type: media('secondFactors'), href, recoveryCodesLeft, required: isRequired },
    isPerson(caller) && link('add', href, { type: media('secondFactorParams') }),
    isPerson(caller) &&
      factors.some(({ confirmed }) => confirmed) &&
      link('replaceRecoveryCodes', hrefs.to(at.replaceRecoveryCodes)),
    ...factors.map((row) => secondFactor(row, caller, hrefs)),
  )
}

/** The only document with the secret. */
export function newSecondFactor(
  { id, name }: SecondFactorRow,
  { address, secret }: { readonly address: string; readonly secret: string },
  { dialect }: Caller,
  hrefs: Hrefs,
): Element {
  return element(
    'NewSecondFactor',
    {
      name,
      id: dialect.urn('secondfactor', id),
      type: dialect.media('newSecondFactor'),
      href: hrefs.secondFactor(id),
    },
    link('confirm', hrefs.confirmSecondFactor(id), { type: dialect.media('secondFactorCode') }),
    element('Address', {}, address),
    element('Secret', {}, secret),
  )
}

export const recoveryCodes = (codes: readonly string[], { dialect }: Caller): Element =>
  element(
    'RecoveryCodes',
    { type: dialect.media('recoveryCodes') },
    ...codes.map((code) => element('Code', {}, code)),
  )
