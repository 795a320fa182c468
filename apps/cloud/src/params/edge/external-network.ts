import { Fault } from '@skerry/fault'
import { attribute, element, type Element } from '@skerry/xml'

import type { ChangedExternalNetwork, NewExternalNetwork } from '../../tenants/external-networks.ts'
import { childText, readBoolean } from '../child-text.ts'
import { nameIn, readRoot } from '../named.ts'
import { describedIn, onlyChild, scopeIn } from '../network.ts'
import type { RequestDocument } from '../request-document.ts'

const [SHAPE, MEDIA] = ['VMWExternalNetwork', 'admin.externalNetwork'] as const
const UPLINK = /^[a-z][a-z0-9-]{0,14}$/
const VLAN_MAX = 4094

function uplinkIn(root: Element): { readonly uplink?: string } {
  const uplink = childText(root, 'Uplink')?.trim()
  if (uplink === undefined) return {}
  if (UPLINK.test(uplink)) return { uplink }
  throw new Fault(
    'invalid',
    'Uplink must have 1 to 15 lower-case letters, digits and hyphens, and begin with a letter',
  )
}

function vlanIn(root: Element): { readonly vlan?: number | null } {
  const written = childText(root, 'Vlan')?.trim()
  if (written === undefined) return {}
  if (written === '') return { vlan: null }
  const vlan = /^\d{1,4}$/.test(written) ? Number(written) : 0
  if (vlan >= 1 && vlan <= VLAN_MAX) return { vlan }
  throw new Fault('invalid', `Vlan must be from 1 to ${VLAN_MAX}`)
}

const maybeDefault = (root: Element): { readonly isDefault?: boolean } => {
  const isDefault = readBoolean(root, 'IsDefault')
  return isDefault === undefined ? {} : { isDefault }
}

function maybeScope(root: Element) {
  const configuration = onlyChild(root, 'Configuration')
  const scope = configuration && scopeIn(configuration)
  return scope ? { scope } : {}
}

const range = (start: string, end: string): Element =>
  element('IpRange', {}, element('StartAddress', {}, start), element('EndAddress', {}, end))

const configuration = (...ranges: readonly Element[]): Element =>
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
        element('Gateway', {}, '203.0.113.1'),
        element('Netmask', {}, '255.255.255.0'),
        element('Dns1', {}, '203.0.113.2'),
        element('IpRanges', {}, ...ranges),
      ),
    ),
    element('FenceMode', {}, 'isolated'),
  )

/** VMWExternalNetwork: one to create. */
export const newExternalNetwork: RequestDocument<NewExternalNetwork> = {
  media: MEDIA,
  shape: SHAPE,
  example: ({ name = 'internet' }) =>
    element(
      SHAPE,
      { name },
      element('Description', {}, 'Addresses of our provider'),
      configuration(range('203.0.113.100', '203.0.113.199')),
      element('Uplink', {}, 'lan'),
      element('Vlan', {}, 30),
    ),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    const { uplink } = uplinkIn(root)
    const { scope } = maybeScope(root)
    if (uplink === undefined || scope?.ranges === undefined) {
      throw new Fault(
        'invalid',
        'an external network needs an Uplink and an IpScope with IpRanges',
        {
          hint: 'only addresses of the IpRanges are given to edge gateways and organisations',
        },
      )
    }
    return {
      name: nameIn(root),
      ...describedIn(root),
      uplink,
      ...vlanIn(root),
      scope,
      ...maybeDefault(root),
    }
  },
}

/** VMWExternalNetwork, as it was read and changed. What it does not contain stays. */
export const changedExternalNetwork: RequestDocument<ChangedExternalNetwork> = {
  media: MEDIA,
  shape: SHAPE,
  example: ({ name = 'office' }) =>
    element(SHAPE, { name }, element('Description', {}, 'The network of the office')),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    return {
      ...(attribute(root, 'name') !== undefined && { name: nameIn(root) }),
      ...describedIn(root),
      ...uplinkIn(root),
      ...vlanIn(root),
      ...maybeScope(root),
      ...maybeDefault(root),
    }
  },
}
