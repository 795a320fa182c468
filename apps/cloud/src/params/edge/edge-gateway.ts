import { Fault } from '@skerry/fault'
import { isAddress, UUID } from '@skerry/vm'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import type { ChangedEdgeGateway, NewEdgeGateway } from '../../tenants/edge-gateways.ts'
import { childText } from '../child-text.ts'
import { nameIn, readRoot } from '../named.ts'
import { describedIn, onlyChild } from '../network.ts'
import type { RequestDocument } from '../request-document.ts'
import { servicesIn, versionIn } from './services.ts'

const [SHAPE, MEDIA] = ['EdgeGateway', 'admin.edgeGateway'] as const
const AT_END = new RegExp(`(${UUID})$`)

/** The id of the external network that the uplink names. */
function uplinkIn(configuration: Element | undefined): { readonly external?: string } {
  const interfaces = configuration && onlyChild(configuration, 'GatewayInterfaces')
  const uplinks = (interfaces ? childrenByLocalName(interfaces, 'GatewayInterface') : []).filter(
    (each) => (childText(each, 'InterfaceType')?.trim() ?? 'uplink') === 'uplink',
  )
  const [uplink, another] = uplinks
  if (another) throw new Fault('invalid', 'an edge gateway has one uplink')
  if (!uplink) return {}
  const network = onlyChild(uplink, 'Network')
  const written = attribute(network, 'href') ?? attribute(network, 'id')
  // Organisations see its name only, and send that back.
  if (written === undefined) return {}
  const [, external] = AT_END.exec(written) ?? []
  if (external !== undefined) return { external }
  throw new Fault('invalid', 'Network of the uplink must have the href of an external network')
}

function partsIn(root: Element): Omit<ChangedEdgeGateway, 'name'> {
  const configuration = onlyChild(root, 'Configuration')
  const services = configuration && onlyChild(configuration, 'EdgeGatewayServiceConfiguration')
  return {
    ...describedIn(root),
    ...uplinkIn(configuration),
    ...(services && { services: servicesIn(services) }),
  }
}

const example = ({ name = 'office' }: { readonly name?: string }): Element =>
  element(SHAPE, { name }, element('Description', {}, 'To the network of the office'))

/** EdgeGateway: one to create. */
export const newEdgeGateway: RequestDocument<NewEdgeGateway> = {
  media: MEDIA,
  shape: SHAPE,
  example,
  read(raw) {
    const root = readRoot(raw, SHAPE)
    return { name: nameIn(root), ...partsIn(root) }
  },
}

/** EdgeGateway, as it was read and changed. What it does not contain stays. */
export const changedEdgeGateway: RequestDocument<ChangedEdgeGateway> = {
  media: MEDIA,
  shape: SHAPE,
  example,
  read(raw) {
    const root = readRoot(raw, SHAPE)
    return {
      ...(attribute(root, 'name') !== undefined && { name: nameIn(root) }),
      ...versionIn(root),
      ...partsIn(root),
    }
  },
}

/** ExternalAddress: one to take. */
export const externalAddressParams: RequestDocument<{ readonly address?: string }> = {
  media: 'admin.externalAddress',
  shape: 'ExternalAddress',
  example: () => element('ExternalAddress', {}),
  read(raw) {
    const address = childText(readRoot(raw, 'ExternalAddress'), 'IpAddress')?.trim()
    if (address === undefined || address === '') return {}
    if (isAddress(address)) return { address }
    throw new Fault('invalid', 'IpAddress must be an IPv4 address')
  },
}
