// The external network of the lab's world, and the rules of an organisation's edge gateway, by the cloud's API.
import assert from 'node:assert/strict'

import {
  attribute,
  childrenByLocalName,
  element,
  renderDocument,
  text,
  type Element,
} from '@skerry/xml'

import { taskOf, type CloudClient } from '../../../apps/cloud/test/cloud-client.ts'

const TASK_MS = 60_000
const child = (parent: Element | undefined, name: string): Element | undefined =>
  childrenByLocalName(parent, name)[0]

/** The uplink of the lab's hosts, its router, and a pool of addresses there. Edge gateways are made on it from now on. */
export async function addWorld(administrator: CloudClient): Promise<void> {
  const range = element(
    'IpRange',
    {},
    element('StartAddress', {}, '198.51.100.10'),
    element('EndAddress', {}, '198.51.100.50'),
  )
  const scope = element(
    'IpScope',
    {},
    element('IsInherited', {}, 'false'),
    element('Gateway', {}, '198.51.100.1'),
    element('Netmask', {}, '255.255.255.0'),
    element('IpRanges', {}, range),
  )
  const body = element(
    'VMWExternalNetwork',
    { name: 'world' },
    element(
      'Configuration',
      {},
      element('IpScopes', {}, scope),
      element('FenceMode', {}, 'isolated'),
    ),
    element('Uplink', {}, 'world'),
    element('IsDefault', {}, 'true'),
  )
  const made = await administrator.ask('POST', '/api/admin/extension/externalNetworks', {
    body: renderDocument(body),
  })
  assert.equal(made.status, 201, made.text)
}

export interface OwnEdgeGateway {
  readonly href: string
  /** Its own address on the external network. */
  readonly address: string
}

export async function ownEdgeGateway(client: CloudClient): Promise<OwnEdgeGateway> {
  const found = await client.get('/api/query?type=edgeGateway')
  const href = attribute(child(found, 'EdgeGatewayRecord'), 'href') ?? ''
  const interfaces = child(child(await client.get(href), 'Configuration'), 'GatewayInterfaces')
  const uplink = childrenByLocalName(interfaces, 'GatewayInterface').find(
    (each) => text(child(each, 'InterfaceType')) === 'uplink',
  )
  const address = text(child(child(uplink, 'SubnetParticipation'), 'IpAddress')) ?? ''
  return { href, address }
}

/** Another address of the external network, for a 1:1 rule. */
export async function takeAddress(client: CloudClient, { href }: OwnEdgeGateway): Promise<string> {
  const taken = await client.ask('POST', `${href}/externalAddresses`, {
    body: renderDocument(element('ExternalAddress', {})),
  })
  assert.equal(taken.status, 201, taken.text)
  return text(child(taken.root, 'IpAddress')) ?? ''
}

export interface Forwarding {
  readonly external: string
  /** Undefined: all ports, 1:1. */
  readonly port?: number
  readonly internal: string
  readonly internalPort?: number
}

/** What may come in: TCP to a port of an external address. */
export interface Allowance {
  readonly address: string
  readonly port: number
  /** Default: any. */
  readonly from?: string
}

const natRule = ({ external, port, internal, internalPort }: Forwarding): Element =>
  element(
    'NatRule',
    {},
    element('RuleType', {}, 'DNAT'),
    element('IsEnabled', {}, 'true'),
    element(
      'GatewayNatRule',
      {},
      element('OriginalIp', {}, external),
      element('OriginalPort', {}, String(port ?? 'any')),
      element('TranslatedIp', {}, internal),
      element('TranslatedPort', {}, String(internalPort ?? 'any')),
      element('Protocol', {}, port === undefined ? 'any' : 'tcp'),
    ),
  )

const firewallRule = ({ address, port, from = 'Any' }: Allowance): Element =>
  element(
    'FirewallRule',
    {},
    element('IsEnabled', {}, 'true'),
    element('Policy', {}, 'allow'),
    element('Protocols', {}, element('Tcp', {}, 'true')),
    element('DestinationPortRange', {}, String(port)),
    element('DestinationIp', {}, address),
    element('SourcePortRange', {}, 'Any'),
    element('SourceIp', {}, from),
  )

/** Replaces the NAT rules and the firewall, and waits until the network server has projected them. */
export async function configureServices(
  client: CloudClient,
  { href }: OwnEdgeGateway,
  { nat, allow }: { readonly nat: readonly Forwarding[]; readonly allow: readonly Allowance[] },
): Promise<void> {
  const body = element(
    'EdgeGatewayServiceConfiguration',
    {},
    element(
      'FirewallService',
      {},
      element('IsEnabled', {}, 'true'),
      element('DefaultAction', {}, 'drop'),
      ...allow.map(firewallRule),
    ),
    element('NatService', {}, element('IsEnabled', {}, 'true'), ...nat.map(natRule)),
  )
  const changed = await client.ask('POST', `${href}/action/configureServices`, {
    body: renderDocument(body),
  })
  assert.equal(changed.status, 202, changed.text)
  const task = await client.ended(taskOf(changed.root), TASK_MS)
  assert.equal(attribute(task, 'status'), 'success', changed.text)
}
