import { element, type Element } from '@skerry/xml'

import { isSession, type Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { isIn } from '../dialect/version.ts'
import { may, type Principal } from '../domain/authorize.ts'
import { link, type Hrefs } from '../http/links.ts'

/** Role and rights: so that a client can say why something is not offered. */
export function session(
  caller: Pick<Caller, 'principal' | 'dialect' | 'version' | 'token'>,
  hrefs: Hrefs,
): Element {
  const { principal, dialect, version } = caller
  const { name } = dialect
  const isNamed = name === 'ours' && isIn(version, '5.1')
  const type = (name: string) => ({ type: dialect.media(name) })
  // Links lead only where the caller may go.
  const links = principal.lacksSecondFactor
    ? [link('down', hrefs.to(at.secondFactors), type('secondFactors'))]
    : linksOf(principal, dialect, hrefs)
  return element(
    'Session',
    {
      user: principal.user,
      org: principal.orgName,
      ...(isNamed && { role: principal.role }),
      type: `${dialect.media('session')};version=${version}`,
      href: hrefs.to(at.session),
    },
    ...links.slice(0, 1),
    isSession(caller) && link('remove', hrefs.to(at.session)),
    ...links.slice(1),
    ...(isNamed ? principal.rights.map((right) => element('Right', {}, right)) : []),
  )
}

const linksOf = (principal: Principal, { media }: Dialect, hrefs: Hrefs): readonly Element[] => [
  link('down', hrefs.to(at.orgs), { type: media('orgList') }),
  link('down', hrefs.org(principal.org), { type: media('org'), name: principal.orgName }),
  link('down', hrefs.to(at.query), { type: media('query.queryList') }),
  link('entityResolver', `${hrefs.to(at.resolver)}/`, { type: media('entity') }),
  ...(may(principal, 'org:admin')
    ? [link('down', hrefs.to(at.admin), { type: media('admin.cloud') })]
    : []),
]
