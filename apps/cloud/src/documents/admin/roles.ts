import type { OrgId } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { link, type Hrefs } from '../../http/links.ts'
import type { UsedRole } from '../../roles/org-roles.ts'

export function roleList(
  org: OrgId,
  all: readonly UsedRole[],
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { media } = caller.dialect
  const href = hrefs.orgRoles(org)
  return element(
    'OrgRoles',
    { type: media('admin.roles'), href },
    link('up', hrefs.adminOrg(org), { type: media('admin.org') }),
    link('add', href, { type: media('admin.role') }),
    ...all.map((each) => roleDocument(each, caller, hrefs)),
  )
}

export function roleDocument(
  { role: { id, org, name, permissions }, users, groups }: UsedRole,
  { dialect }: Caller,
  hrefs: Hrefs,
): Element {
  const type = dialect.media('admin.role')
  const href = hrefs.orgRole(id)
  return element(
    'OrgRole',
    { name, id: dialect.urn('role', id), type, href },
    link('up', hrefs.orgRoles(org), { type: dialect.media('admin.roles') }),
    link('edit', href, { type }),
    link('remove', href),
    ...permissions.map((right) => element('Right', {}, right)),
    element('Users', {}, String(users)),
    element('Groups', {}, String(groups)),
  )
}
