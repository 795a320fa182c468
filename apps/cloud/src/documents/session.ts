import { element, type Element } from '@skerry/xml'

import { isSession, type Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import { isIn } from '../dialect/version.ts'
import { may } from '../domain/authorize.ts'
import { roles } from '../domain/roles.ts'
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
  return element(
    'Session',
    {
      user: principal.user,
      org: principal.orgName,
      ...(isNamed && { role: principal.role }),
      type: `${dialect.media('session')};version=${version}`,
      href: hrefs.to(at.session),
    },
    link('down', hrefs.to(at.orgs), type('orgList')),
    isSession(caller) && link('remove', hrefs.to(at.session)),
    link('down', hrefs.org(principal.org), { ...type('org'), name: principal.orgName }),
    link('down', hrefs.to(at.query), type('query.queryList')),
    link('entityResolver', `${hrefs.to(at.resolver)}/`, type('entity')),
    may(principal, 'org:admin') && link('down', hrefs.to(at.admin), type('admin.cloud')),
    ...(isNamed ? roles[principal.role].map((right) => element('Right', {}, right)) : []),
  )
}
