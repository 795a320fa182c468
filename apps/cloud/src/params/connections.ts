import { Fault } from '@skerry/fault'
import { NICS_MAX, UUID } from '@skerry/vm'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { allocationModes, type AllocationMode } from '../domain/plan-nics.ts'
import type { NamedNic } from '../inventory/nics.ts'
import { childText, readBoolean } from './child-text.ts'
import { readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

/** The cards of a VM, with the MAC addresses that the client read: the cloud gives them, so they must be the same. */
export interface ConnectionsRequest {
  readonly nics: readonly NamedNic[]
  readonly macs: Readonly<Record<number, string>>
}

const NETWORK = new RegExp(`/network/(${UUID})$`)
const NAME_MAX = 128

const only = (root: Element, name: string): Element | undefined => {
  const [first, another] = childrenByLocalName(root, name)
  if (another) throw new Fault('invalid', `only one ${name} is allowed`)
  return first
}

function nicIn(connection: Element, place: number, named: NetworkNames): NamedNic {
  const network = attribute(connection, 'network') ?? ''
  if (network.length < 1 || network.length > NAME_MAX) {
    throw new Fault('invalid', 'NetworkConnection needs the name of a network')
  }
  const said = childText(connection, 'NetworkConnectionIndex')?.trim() ?? String(place)
  if (!/^\d$/.test(said)) {
    throw new Fault('invalid', `NetworkConnectionIndex must be from 0 to ${NICS_MAX - 1}`)
  }
  const mode = (childText(connection, 'IpAddressAllocationMode')?.trim() ??
    'POOL') as AllocationMode
  if (!allocationModes.includes(mode)) {
    throw new Fault(
      'invalid',
      `IpAddressAllocationMode must be one of: ${allocationModes.join(', ')}`,
    )
  }
  const address = childText(connection, 'IpAddress')?.trim() ?? ''
  if (mode === 'MANUAL' && address === '') {
    throw new Fault('invalid', 'IpAddressAllocationMode MANUAL needs an IpAddress')
  }
  return {
    index: Number(said),
    network: named.get(network) ?? network,
    mode,
    // Other modes show an address that the cloud chose: clients send it back.
    ...(mode === 'MANUAL' && { address }),
    connected: readBoolean(connection, 'IsConnected') ?? true,
  }
}

/** What a request calls a network → the name or id of the network of the vdc. */
type NetworkNames = ReadonlyMap<string, string>

function connectionsIn(section: Element, named: NetworkNames = new Map()): readonly NamedNic[] {
  const connections = childrenByLocalName(section, 'NetworkConnection')
  if (connections.length < 1 || connections.length > NICS_MAX) {
    throw new Fault('invalid', `a VM has from 1 to ${NICS_MAX} NetworkConnections`, {
      hint: 'set IsConnected of a card to false to disconnect it',
    })
  }
  const nics = connections.map((each, place) => nicIn(each, place, named))
  if (new Set(nics.map(({ index }) => index)).size < nics.length) {
    throw new Fault('invalid', 'two NetworkConnections have the same NetworkConnectionIndex')
  }
  return nics
}

/** The networks that NetworkConfigSection names: bridged to the network of the vdc that ParentNetwork or the name itself says. */
export function networkNamesIn(root: Element): NetworkNames {
  const params = only(root, 'InstantiationParams')
  const section = params && only(params, 'NetworkConfigSection')
  const configs = section ? childrenByLocalName(section, 'NetworkConfig') : []
  return new Map(
    configs.map((config) => {
      const name = attribute(config, 'networkName') ?? ''
      if (name.length < 1 || name.length > NAME_MAX) {
        throw new Fault('invalid', 'NetworkConfig needs a networkName')
      }
      const configuration = only(config, 'Configuration')
      const parent = configuration && only(configuration, 'ParentNetwork')
      const [, id] = NETWORK.exec((parent && attribute(parent, 'href')) ?? '') ?? []
      return [name, id ?? (parent && attribute(parent, 'name')) ?? name] as const
    }),
  )
}

/**
 * The cards that a request wants for a VM: those of the first NetworkConnectionSection in these parts of it, or one on each network that
 * the request configures; undefined: it says nothing about networks.
 */
export function nicsIn(
  parts: readonly Element[],
  named: NetworkNames,
): { readonly nics?: readonly NamedNic[] } {
  for (const part of parts) {
    const params = only(part, 'InstantiationParams')
    const section = params && only(params, 'NetworkConnectionSection')
    if (section) return { nics: connectionsIn(section, named) }
  }
  if (named.size === 0) return {}
  if (named.size > NICS_MAX) throw new Fault('invalid', `a VM has at most ${NICS_MAX} networks`)
  return {
    nics: [...named.values()].map((network, index) => ({
      index,
      network,
      mode: 'POOL' as const,
      connected: true,
    })),
  }
}

/** NetworkConnectionSection, as it was read and changed. */
export const connectionParams: RequestDocument<ConnectionsRequest> = {
  media: 'networkConnectionSection',
  shape: 'NetworkConnectionSection',
  example: () =>
    element(
      'NetworkConnectionSection',
      { 'xmlns:ovf': 'http://schemas.dmtf.org/ovf/envelope/1' },
      element('ovf:Info', {}, 'Network connections'),
      element(
        'NetworkConnection',
        { network: 'lab' },
        element('NetworkConnectionIndex', {}, 0),
        element('IpAddress', {}, '192.168.20.9'),
        element('IsConnected', {}, 'true'),
        element('IpAddressAllocationMode', {}, 'MANUAL'),
      ),
    ),
  read(raw) {
    const root = readRoot(raw, 'NetworkConnectionSection')
    const nics = connectionsIn(root)
    const macs = childrenByLocalName(root, 'NetworkConnection').flatMap((each, place) => {
      const mac = text(childrenByLocalName(each, 'MACAddress')[0])?.trim().toLowerCase()
      const index = nics[place]?.index
      return mac === undefined || mac === '' || index === undefined ? [] : [[index, mac] as const]
    })
    return { nics, macs: Object.fromEntries(macs) }
  },
}
