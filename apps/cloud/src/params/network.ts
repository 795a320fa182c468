import { Fault } from '@skerry/fault'
import { UUID } from '@skerry/vm'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { readAddress } from '../domain/address-range.ts'
import type { ChangedNetwork, NetworkScope, NewNetwork } from '../tenants/networks.ts'
import { childText, readBoolean } from './child-text.ts'
import { nameIn, readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

const DESCRIPTION_MAX = 1024
const AT_END = new RegExp(`(${UUID})$`)
const SUFFIX = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i

const [SHAPE, MEDIA] = ['OrgVdcNetwork', 'orgVdcNetwork'] as const

export const onlyChild = (root: Element, name: string): Element | undefined => {
  const [first, another] = childrenByLocalName(root, name)
  if (another) throw new Fault('invalid', `only one ${name} is allowed`)
  return first
}

export const describedIn = (root: Element): { readonly description?: string } => {
  const description = childText(root, 'Description')
  if (description === undefined) return {}
  if (description.length <= DESCRIPTION_MAX) return { description }
  throw new Fault('invalid', `Description must have at most ${DESCRIPTION_MAX} characters`)
}

/** Both are replaced if one is there; an empty one removes it. */
function nameServers(scope: Element): { readonly dns?: readonly string[] } {
  const named = ['Dns1', 'Dns2'].map((name) => ({ name, written: childText(scope, name) }))
  if (named.every(({ written }) => written === undefined)) return {}
  const dns = named.flatMap(({ name, written }) => {
    const server = written?.trim() ?? ''
    if (server === '') return []
    if (readAddress(server) === undefined) {
      throw new Fault('invalid', `${name} must be an IPv4 address`)
    }
    return [server]
  })
  return { dns }
}

function suffixIn(scope: Element): { readonly suffix?: string } {
  const suffix = childText(scope, 'DnsSuffix')?.trim()
  if (suffix === undefined) return {}
  if (suffix === '' || SUFFIX.test(suffix)) return { suffix }
  throw new Fault('invalid', 'DnsSuffix must be the name of a domain')
}

export function scopeIn(configuration: Element): NetworkScope | undefined {
  // Version 1.5 of the original has one IpScope without the list.
  const scopes = onlyChild(configuration, 'IpScopes') ?? configuration
  const scope = onlyChild(scopes, 'IpScope')
  if (!scope) return undefined
  const ranges = onlyChild(scope, 'IpRanges')
  const end = (range: Element, name: string) => text(onlyChild(range, name))?.trim() ?? ''
  return {
    gateway: childText(scope, 'Gateway')?.trim() ?? '',
    netmask: childText(scope, 'Netmask')?.trim() ?? '',
    ...nameServers(scope),
    ...suffixIn(scope),
    ...(ranges && {
      ranges: childrenByLocalName(ranges, 'IpRange').map((range) => ({
        start: end(range, 'StartAddress'),
        end: end(range, 'EndAddress'),
      })),
    }),
  }
}

function fenceIn(configuration: Element): NewNetwork['fence'] {
  const fence = childText(configuration, 'FenceMode')?.trim() ?? ''
  if (fence === 'isolated' || fence === 'natRouted' || fence === 'bridged') return fence
  throw new Fault('invalid', 'FenceMode must be isolated, natRouted or bridged', {
    hint: 'natRouted networks reach the outside by an edge gateway, bridged ones are an external network',
  })
}

function parentIn(configuration: Element): { readonly parent?: string } {
  const reference = onlyChild(configuration, 'ParentNetwork')
  if (!reference) return {}
  const [, parent] =
    AT_END.exec(attribute(reference, 'href') ?? attribute(reference, 'id') ?? '') ?? []
  if (parent !== undefined) return { parent }
  throw new Fault('invalid', 'ParentNetwork must have the href of an external network')
}

function edgeGatewayIn(root: Element): { readonly edgeGateway?: string } {
  const reference = onlyChild(root, 'EdgeGateway')
  if (!reference) return {}
  const written = attribute(reference, 'href') ?? attribute(reference, 'id') ?? ''
  const [, id] = AT_END.exec(written) ?? []
  if (id !== undefined) return { edgeGateway: id }
  throw new Fault('invalid', 'EdgeGateway must have the href or the id of an edge gateway')
}

const maybeShared = (root: Element): { readonly shared?: boolean } => {
  const shared = readBoolean(root, 'IsShared')
  return shared === undefined ? {} : { shared }
}

const maybeIpv6 = (root: Element): { readonly ipv6?: boolean } => {
  const ipv6 = readBoolean(root, 'IsIpv6Enabled')
  return ipv6 === undefined ? {} : { ipv6 }
}

const scopeExample = (): Element =>
  element(
    'IpScopes',
    {},
    element(
      'IpScope',
      {},
      element('IsInherited', {}, 'false'),
      element('Gateway', {}, '192.168.10.1'),
      element('Netmask', {}, '255.255.255.0'),
      element('Dns1', {}, '192.168.10.2'),
      element(
        'IpRanges',
        {},
        element(
          'IpRange',
          {},
          element('StartAddress', {}, '192.168.10.100'),
          element('EndAddress', {}, '192.168.10.199'),
        ),
      ),
    ),
  )

const example = ({ name = 'backend' }: { readonly name?: string }): Element =>
  element(
    SHAPE,
    { name },
    element('Description', {}, 'Between the web servers and their database'),
    element('Configuration', {}, scopeExample(), element('FenceMode', {}, 'isolated')),
  )

/** OrgVdcNetwork: a network to create. */
export const newNetwork: RequestDocument<NewNetwork> = {
  media: MEDIA,
  shape: SHAPE,
  example,
  read(raw) {
    const root = readRoot(raw, SHAPE)
    const configuration = onlyChild(root, 'Configuration')
    const scope = configuration && scopeIn(configuration)
    const fence = configuration && fenceIn(configuration)
    if (!fence || (!scope && fence !== 'bridged')) {
      throw new Fault('invalid', 'the Configuration of a network needs an IpScope', {
        hint: 'with Gateway and Netmask',
      })
    }
    return {
      name: nameIn(root),
      ...describedIn(root),
      fence,
      ...edgeGatewayIn(root),
      ...parentIn(configuration),
      ...(scope && { scope }),
      ...maybeShared(root),
      ...maybeIpv6(root),
    }
  },
}

/** OrgVdcNetwork, as it was read and changed. What it does not contain stays. */
export const changedNetwork: RequestDocument<ChangedNetwork> = {
  media: MEDIA,
  shape: SHAPE,
  example: ({ name = 'database' }) => example({ name }),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    const configuration = onlyChild(root, 'Configuration')
    const scope = configuration && scopeIn(configuration)
    return {
      ...(attribute(root, 'name') !== undefined && { name: nameIn(root) }),
      ...describedIn(root),
      ...(scope && { scope }),
      ...maybeShared(root),
      ...maybeIpv6(root),
    }
  },
}
