import type { OrgId } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { may } from '../../domain/authorize.ts'
import { link, type Hrefs } from '../../http/links.ts'
import type { SecurityGroupRow, WholeSecurityGroup } from '../../tenants/security-groups.ts'

export function securityGroupList(
  org: OrgId,
  groups: readonly Pick<SecurityGroupRow, 'id' | 'name'>[],
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const type = dialect.media('admin.securityGroup')
  const href = hrefs.securityGroups(org)
  return element(
    'SecurityGroups',
    { type: dialect.media('admin.securityGroups'), href },
    link('up', hrefs.org(org), { type: dialect.media('org') }),
    may(principal, 'network:edit') && link('add', href, { type }),
    ...groups.map(({ id, name }) =>
      element('SecurityGroupReference', { type, name, href: hrefs.securityGroup(id) }),
    ),
  )
}

export function securityGroup(
  { group, labels, rules, vms, ready }: WholeSecurityGroup,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const { id, org, name, description, version } = group
  const type = dialect.media('admin.securityGroup')
  const href = hrefs.securityGroup(id)
  const edits = may(principal, 'network:edit', group)
  const section = (named: string, direction: 'in' | 'out'): Element =>
    element(
      named,
      {},
      ...rules
        .filter((rule) => rule.direction === direction)
        .map((rule) => ruleElement(rule, type, hrefs)),
    )
  return element(
    'SecurityGroup',
    { name, id: dialect.urn('securitygroup', id), status: ready ? 1 : 0, version, type, href },
    link('up', hrefs.securityGroups(org), { type: dialect.media('admin.securityGroups') }),
    edits && link('edit', href, { type }),
    edits && link('remove', href),
    description !== '' && element('Description', {}, description),
    element(
      'Selector',
      {},
      ...labels.map(({ key, value }) =>
        element('Label', {}, element('Key', {}, key), element('Value', {}, value)),
      ),
    ),
    group.limits_in && section('Inbound', 'in'),
    group.limits_out && section('Outbound', 'out'),
    element(
      'Members',
      { total: vms.total },
      ...vms.first.map((vm) =>
        element('VMReference', { type: dialect.media('vm'), name: vm.name, href: hrefs.vm(vm.id) }),
      ),
    ),
  )
}

function ruleElement(
  { protocol, ports, block, peer }: WholeSecurityGroup['rules'][number],
  type: string,
  hrefs: Hrefs,
): Element {
  return element(
    'Rule',
    {},
    element('Protocol', {}, protocol),
    ports &&
      element(
        'PortRange',
        {},
        ports.low === ports.high ? String(ports.low) : `${ports.low}-${ports.high}`,
      ),
    block !== undefined && element('Cidr', {}, block),
    peer && element('PeerGroup', { type, name: peer.name, href: hrefs.securityGroup(peer.id) }),
  )
}
