import { netmaskOf } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { may } from '../../domain/authorize.ts'
import { link, type Hrefs } from '../../http/links.ts'
import type { TaskFound } from '../../tasks/find-task.ts'
import type { EdgeGatewayRow, WholeEdgeGateway } from '../../tenants/edge-surroundings.ts'
import type { OwnedExternalAddress } from '../../tenants/external-addresses.ts'
import { task } from '../task.ts'
import { edgeServices } from './edge-services.ts'

/** An edge gateway of a vdc. It is ready when no change of it is on its way to the hosts. */
export function edgeGateway(
  whole: WholeEdgeGateway,
  tasks: readonly TaskFound[],
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect, principal } = caller
  const { gateway: row, outside } = whole
  const type = dialect.media('admin.edgeGateway')
  const href = hrefs.edgeGateway(row.id)
  const edits = may(principal, 'network:edit', row)
  const externalType = dialect.media('admin.externalNetwork')
  const externalHref = hrefs.externalNetwork(outside.id)
  return element(
    'EdgeGateway',
    {
      name: row.name,
      id: dialect.urn('gateway', row.id),
      status: tasks.length === 0 ? 1 : 0,
      version: row.version,
      type,
      href,
    },
    link('up', hrefs.vdc(row.vdc), { type: dialect.media('vdc') }),
    edits && link('edit', href, { type }),
    may(principal, 'external:admin') && link('remove', href),
    edits &&
      link('edgeGateway:configureServices', hrefs.configureServices(row.id), {
        type: dialect.media('admin.edgeGatewayServiceConfiguration'),
      }),
    link('down', hrefs.externalAddresses(row.id), {
      type: dialect.media('admin.externalAddresses'),
    }),
    row.description !== '' && element('Description', {}, row.description),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, caller, hrefs))),
    element(
      'Configuration',
      {},
      element('GatewayBackingConfig', {}, 'compact'),
      element(
        'GatewayInterfaces',
        {},
        uplink(whole, externalType, externalHref),
        ...whole.networks.map((each) => internal(each, caller, hrefs)),
      ),
      edgeServices(row, { name: outside.name, href: externalHref, type: externalType }),
      // Several hosts carry it, unless the cloud has one host only.
      element('HaEnabled', {}, String(row.hosts.length > 1)),
    ),
  )
}

function uplink(
  { gateway, outside, addresses }: WholeEdgeGateway,
  type: string,
  href: string,
): Element {
  return element(
    'GatewayInterface',
    {},
    element('Name', {}, outside.name),
    element('DisplayName', {}, outside.name),
    element('Network', { type, name: outside.name, href }),
    element('InterfaceType', {}, 'uplink'),
    element(
      'SubnetParticipation',
      {},
      element('Gateway', {}, outside.gateway),
      element('Netmask', {}, netmaskOf(outside.prefix)),
      element('IpAddress', {}, gateway.address),
      addresses.length > 0 && element('IpRanges', {}, ...addresses.map(single)),
    ),
    element('UseForDefaultRoute', {}, 'true'),
  )
}

const single = (address: string): Element =>
  element('IpRange', {}, element('StartAddress', {}, address), element('EndAddress', {}, address))

const internal = (
  { id, name, gateway, prefix }: WholeEdgeGateway['networks'][number],
  { dialect }: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'GatewayInterface',
    {},
    element('Name', {}, name),
    element('DisplayName', {}, name),
    element('Network', { type: dialect.media('orgVdcNetwork'), name, href: hrefs.network(id) }),
    element('InterfaceType', {}, 'internal'),
    element(
      'SubnetParticipation',
      {},
      element('Gateway', {}, gateway ?? ''),
      element('Netmask', {}, netmaskOf(prefix ?? 0)),
      element('IpAddress', {}, gateway ?? ''),
    ),
    element('UseForDefaultRoute', {}, 'false'),
  )

type Of = Pick<EdgeGatewayRow, 'id' | 'org'>

const contentOf = (
  { address, used }: OwnedExternalAddress,
  gateway: Of,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
) =>
  [
    link('up', hrefs.edgeGateway(gateway.id), { type: dialect.media('admin.edgeGateway') }),
    !used &&
      may(principal, 'network:edit', gateway) &&
      link('remove', hrefs.externalAddress(gateway.id, address)),
    element('IpAddress', {}, address),
    element('IsInUse', {}, String(used)),
  ] as const

/** An address that was just taken. */
export const externalAddress = (
  taken: OwnedExternalAddress,
  gateway: Of,
  caller: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'ExternalAddress',
    { type: caller.dialect.media('admin.externalAddress') },
    ...contentOf(taken, gateway, caller, hrefs),
  )

export function externalAddresses(
  taken: readonly OwnedExternalAddress[],
  gateway: Of,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect, principal } = caller
  const href = hrefs.externalAddresses(gateway.id)
  return element(
    'ExternalAddresses',
    { type: dialect.media('admin.externalAddresses'), href },
    link('up', hrefs.edgeGateway(gateway.id), { type: dialect.media('admin.edgeGateway') }),
    may(principal, 'network:edit', gateway) &&
      link('add', href, { type: dialect.media('admin.externalAddress') }),
    ...taken.map((each) => externalAddress(each, gateway, caller, hrefs)),
  )
}
