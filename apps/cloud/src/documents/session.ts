import { element, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { may } from '../identity/authorize.ts'

export function session({ who, dialect, version }: Asker, hrefs: Hrefs): Element {
  const type = (name: string) => ({ type: dialect.media(name) })
  return element(
    'Session',
    {
      ...{ user: who.user, org: who.orgName },
      type: `${dialect.media('session')};version=${version}`,
      href: hrefs.to(at.session),
    },
    link('down', hrefs.to(at.orgs), type('orgList')),
    !who.script && link('remove', hrefs.to(at.session)),
    link('down', hrefs.org(who.org), { ...type('org'), name: who.orgName }),
    link('down', hrefs.to(at.query), type('query.queryList')),
    link('entityResolver', `${hrefs.to(at.resolver)}/`, type('entity')),
    may(who, 'org:admin') && link('down', hrefs.to(at.admin), type('admin.cloud')),
  )
}
