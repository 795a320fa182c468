import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { may } from '../domain/authorize.ts'
import { linksOf, sharingOffer } from '../http/action-offers.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { AccessEntry, SharingSubject } from '../sharing/access-lists.ts'

/** The shared object: its address and the media type of its document. */
export interface SharedDocument {
  readonly href: string
  readonly media: 'vApp' | 'catalog'
  readonly closed: boolean
}

/** With whom it is shared. */
export function controlAccess(
  entries: readonly AccessEntry[],
  { href, media, closed }: SharedDocument,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect } = caller
  const everyone = entries.find(({ subject }) => subject.type === 'everyone')
  const others = entries.flatMap(({ subject, level }) =>
    subject.type === 'everyone' ? [] : [{ subject, level }],
  )
  return element(
    'ControlAccessParams',
    { type: dialect.media('controlAccess'), href: `${href}/controlAccess` },
    link('up', href, { type: dialect.media(media) }),
    ...linksOf([sharingOffer({ closed }, href, caller)]),
    element('IsSharedToEveryone', {}, String(everyone !== undefined)),
    everyone && element('EveryoneAccessLevel', {}, everyone.level),
    others.length > 0 &&
      element(
        'AccessSettings',
        {},
        ...others.map(({ subject, level }) =>
          element(
            'AccessSetting',
            {},
            shownSubject(subject, caller, hrefs),
            element('AccessLevel', {}, level),
          ),
        ),
      ),
  )
}

/** The document of a user is for administrators of users: others get the name without its address. */
const shownSubject = (
  subject: Exclude<SharingSubject, { readonly type: 'everyone' }>,
  { principal }: Caller,
  hrefs: Hrefs,
): Element =>
  subject.type === 'user'
    ? element('Subject', {
        type: 'user',
        name: subject.name,
        href: may(principal, 'org:admin') ? hrefs.adminUser(subject.account) : undefined,
      })
    : element('Subject', { type: 'group', name: subject.name, provider: subject.providerName })
