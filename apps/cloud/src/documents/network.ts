import { addressText, netmaskOf } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { may } from '../domain/authorize.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { TaskFound } from '../tasks/find-task.ts'
import type { AllocatedAddress, NetworkRow, WholeNetwork } from '../tenants/network-rows.ts'
import { task } from './task.ts'

const fenceModes = { isolated: 'isolated', routed: 'natRouted', direct: 'bridged' } as const

interface ShownNetwork {
  readonly whole: WholeNetwork
  readonly tasks: readonly TaskFound[]
  /** Whether the address of its administration was asked: the document then shows that as its own. */
  readonly administered: boolean
}

/** A network of a vdc. It is ready when no change of it is on its way to the hosts. */
export function network(
  { whole, tasks, administered }: ShownNetwork,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect, principal } = caller
  const { network: row, gatewayName } = whole
  const type = dialect.media('orgVdcNetwork')
  const edits = may(principal, 'network:edit', row)
  const own = hrefs.adminNetwork(row.id)
  return element(
    'OrgVdcNetwork',
    {
      name: row.name,
      id: dialect.urn('network', row.id),
      status: tasks.some(({ state }) => state === 'queued' || state === 'running') ? 0 : 1,
      type,
      href: administered ? own : hrefs.network(row.id),
    },
    link('up', hrefs.vdc(row.vdc), { type: dialect.media('vdc') }),
    link('down', hrefs.allocatedAddresses(row.id), {
      type: dialect.media('allocatedNetworkAddress'),
    }),
    link('alternate', administered ? hrefs.network(row.id) : own, { type }),
    edits && link('edit', own, { type }),
    edits && link('remove', own),
    row.description !== '' && element('Description', {}, row.description),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, caller, hrefs))),
    element(
      'Configuration',
      {},
      ipScopes(whole),
      row.external !== null &&
        element('ParentNetwork', {
          type: dialect.media('admin.externalNetwork'),
          name: whole.externalName ?? undefined,
          href: hrefs.externalNetwork(row.external),
        }),
      element('FenceMode', {}, fenceModes[row.kind]),
      element('RetainNetInfoAcrossDeployments', {}, 'true'),
    ),
    row.edge_gateway !== null &&
      element('EdgeGateway', {
        name: gatewayName ?? undefined,
        id: dialect.urn('gateway', row.edge_gateway),
        type: dialect.media('admin.edgeGateway'),
        href: may(principal, 'network:read', row) ? hrefs.edgeGateway(row.edge_gateway) : undefined,
      }),
    element('IsShared', {}, String(row.shared)),
    row.ipv6_prefix !== null && element('IsIpv6Enabled', {}, 'true'),
    row.ipv6_prefix !== null && element('Ipv6Prefix', {}, row.ipv6_prefix),
  )
}

function ipScopes({ network: row, ranges }: WholeNetwork): Element | false {
  const { base, prefix, gateway, dns, dns_suffix: suffix } = row
  if (base === null || prefix === null || gateway === null) return false
  const at = (offset: number): string => addressText(Number(base) + offset)
  const range = ({ low, high }: WholeNetwork['ranges'][number]): Element =>
    element(
      'IpRange',
      {},
      element('StartAddress', {}, at(low)),
      element('EndAddress', {}, at(high)),
    )
  return element(
    'IpScopes',
    {},
    element(
      'IpScope',
      {},
      element('IsInherited', {}, 'false'),
      element('Gateway', {}, gateway),
      element('Netmask', {}, netmaskOf(prefix)),
      ...dns.slice(0, 2).map((server, index) => element(`Dns${index + 1}`, {}, server)),
      suffix !== null && element('DnsSuffix', {}, suffix),
      element('IsEnabled', {}, 'true'),
      ranges.length > 0 && element('IpRanges', {}, ...ranges.map(range)),
    ),
  )
}

/** The addresses that VMs have, each with its VM. */
export const allocatedAddresses = (
  { id }: NetworkRow,
  allocated: readonly AllocatedAddress[],
  { dialect }: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'AllocatedIpAddresses',
    { type: dialect.media('allocatedNetworkAddress'), href: hrefs.allocatedAddresses(id) },
    link('up', hrefs.network(id), { type: dialect.media('orgVdcNetwork') }),
    ...allocated.map(({ address, vm, name, on }) =>
      element(
        'IpAddress',
        { allocationType: 'vmAllocated', isDeployed: on },
        link('down', hrefs.vm(vm), { type: dialect.media('vm'), name }),
        element('IpAddress', {}, address),
      ),
    ),
  )
