import { netmaskOf } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { at } from '../../dialect/addresses.ts'
import { link, type Hrefs } from '../../http/links.ts'
import type { OutsideNetwork } from '../../tenants/edge-surroundings.ts'
import {
  poolTexts,
  type ExternalNetworkRow,
  type WholeExternalNetwork,
} from '../../tenants/external-networks.ts'

export const externalNetworks = (
  rows: readonly ExternalNetworkRow[],
  { dialect }: Caller,
  hrefs: Hrefs,
): Element => {
  const type = dialect.media('admin.externalNetwork')
  const href = hrefs.to(at.externalNetworks)
  return element(
    'VMWExternalNetworkReferences',
    { type: dialect.media('admin.externalNetworks'), href },
    link('up', hrefs.to(at.admin), { type: dialect.media('admin.cloud') }),
    link('add', href, { type }),
    ...rows.map(({ id, name }) =>
      element('ExternalNetworkReference', { type, name, href: hrefs.externalNetwork(id) }),
    ),
  )
}

/** An external network as organisations see it. */
export const outsideNetwork = (
  { id, name, gateway, prefix }: OutsideNetwork,
  { dialect }: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'VMWExternalNetwork',
    {
      name,
      id: dialect.urn('externalnetwork', id),
      type: dialect.media('admin.externalNetwork'),
      href: hrefs.externalNetwork(id),
    },
    element(
      'Configuration',
      {},
      element(
        'IpScopes',
        {},
        element(
          'IpScope',
          {},
          element('IsInherited', {}, 'false'),
          element('Gateway', {}, gateway),
          element('Netmask', {}, netmaskOf(prefix)),
          element('IsEnabled', {}, 'true'),
        ),
      ),
      element('FenceMode', {}, 'isolated'),
    ),
  )

export function externalNetwork(
  whole: WholeExternalNetwork,
  { dialect }: Caller,
  hrefs: Hrefs,
): Element {
  const { external: row, ranges, allocated } = whole
  const type = dialect.media('admin.externalNetwork')
  const href = hrefs.externalNetwork(row.id)
  // That of the system cannot be changed.
  const isOwn = row.kind === 'provider'
  return element(
    'VMWExternalNetwork',
    { name: row.name, id: dialect.urn('externalnetwork', row.id), type, href },
    link('up', hrefs.to(at.externalNetworks), { type: dialect.media('admin.externalNetworks') }),
    isOwn && link('edit', href, { type }),
    isOwn && link('remove', href),
    row.description !== '' && element('Description', {}, row.description),
    element(
      'Configuration',
      {},
      element(
        'IpScopes',
        {},
        element(
          'IpScope',
          {},
          element('IsInherited', {}, 'false'),
          element('Gateway', {}, row.gateway),
          element('Netmask', {}, netmaskOf(row.prefix)),
          ...row.dns.slice(0, 2).map((server, index) => element(`Dns${index + 1}`, {}, server)),
          element('IsEnabled', {}, 'true'),
          element(
            'IpRanges',
            {},
            ...poolTexts(whole).map(([start, end]) =>
              element(
                'IpRange',
                {},
                element('StartAddress', {}, start),
                element('EndAddress', {}, end),
              ),
            ),
          ),
        ),
      ),
      element('FenceMode', {}, 'isolated'),
    ),
    element('Uplink', {}, row.uplink),
    row.vlan !== null && element('Vlan', {}, row.vlan),
    element('IsDefault', {}, String(row.is_default)),
    element('AllocatedIpCount', {}, allocated),
    element(
      'TotalIpCount',
      {},
      ranges.reduce((sum, { low, high }) => sum + high - low + 1, 0),
    ),
  )
}
