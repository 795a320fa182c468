import { linkOf, taskIn } from '@skerry/cloud-client'
import { attribute, element, find, type Element } from '@skerry/xml'

import { remove } from '../../cloud/act.ts'
import { kinds, oneNamed } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { follow, underWay } from '../../cloud/task.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { yesOrNo } from '../../terminal/yes-or-no.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../../vms/vm-backend.ts'
import { findVdc, vdcOptions } from './find-vdc.ts'
import { changedScopeOf, ipScopeOf, textIn, type WantedScope } from './ip-scope.ts'

interface WantedNetwork {
  readonly name: string
  readonly vdc?: string | undefined
  readonly org?: string | undefined
  readonly kind: NetworkKind
}

/** `edge`: its edge gateway; default: that of the data centre. `external`: the external network that a direct one is. */
type NetworkKind =
  | { readonly fence: 'isolated'; readonly scope: WantedScope }
  | {
      readonly fence: 'natRouted'
      readonly scope: WantedScope
      readonly edge?: string | undefined
      readonly ipv6: boolean
    }
  | { readonly fence: 'bridged'; readonly external: string }

async function bodyOf(side: CloudSession, { name, kind }: WantedNetwork): Promise<Element> {
  const { fence } = kind
  const addresses = fence === 'bridged' ? undefined : ipScopeOf(kind.scope)
  const parent =
    fence === 'bridged' ? await oneNamed(side, kinds.external, kind.external) : undefined
  const gateway =
    fence === 'natRouted' && kind.edge !== undefined
      ? await oneNamed(side, kinds.edge, kind.edge)
      : undefined
  return element(
    'OrgVdcNetwork',
    { name },
    element(
      'Configuration',
      {},
      addresses,
      parent && element('ParentNetwork', { name: parent.name, href: parent.href }),
      element('FenceMode', {}, fence),
    ),
    gateway && element('EdgeGateway', { name: gateway.name, href: gateway.href }),
    fence === 'natRouted' && kind.ipv6 && element('IsIpv6Enabled', {}, 'true'),
  )
}

async function make(
  side: CloudSession,
  wanted: WantedNetwork,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { cloud } = side
  const body = await bodyOf(side, wanted)
  const vdc = await findVdc(side, wanted)
  const to = linkOf(vdc, 'add', 'orgVdcNetwork')
  if (to === undefined) {
    throw new Failure('refused', `${attribute(vdc, 'name')} takes no networks`, {
      hint: 'a network needs an administrator of the organisation, and a cloud with a network server',
    })
  }
  const made = await cloud.act('POST', to, { body })
  const begun = await follow(side, made && taskIn(made), doing)
  const { name } = wanted
  if (begun && !begun.ended) return underWay(`network ${name}`, begun.id)
  return {
    text: `network ${name} is created`,
    body: { name, href: attribute(made, 'href') },
    next: `skerry create VM --network ${name}`,
  }
}

interface KindOptions {
  readonly range?: string
  readonly routed?: boolean
  readonly edge?: string
  readonly ipv6?: boolean
  readonly direct?: string
  readonly gateway?: string
  readonly pool?: string
  readonly dns?: string
}

/** Options about addresses and the way outside, which a direct network has from its external network. */
const ofOwnAddresses = ['range', 'routed', 'edge', 'ipv6', 'gateway', 'pool', 'dns'] as const

function readKind(name: string, options: KindOptions): NetworkKind {
  const { range, routed = false, edge, ipv6 = false, direct, gateway, pool, dns } = options
  if (direct !== undefined) {
    const other = ofOwnAddresses.find((each) => options[each] !== undefined)
    if (other === undefined) return { fence: 'bridged', external: direct }
    throw new Failure('usage', `give --direct or --${other}, not both`, {
      hint: 'a direct network has the addresses of its external network',
    })
  }
  if (range === undefined) {
    throw new Failure('usage', 'a network needs its addresses', {
      hint: `skerry network create ${name} --range 192.168.10.0/24`,
    })
  }
  const scope = { range, gateway, pool, dns }
  if (routed || edge !== undefined) return { fence: 'natRouted', scope, edge, ipv6 }
  if (!ipv6) return { fence: 'isolated', scope }
  throw new Failure('usage', 'only a routed network can have IPv6', {
    hint: `skerry network create ${name} --range ${range} --routed --ipv6`,
  })
}

const create = command({
  name: 'network create',
  asks: 'cloud',
  usage: 'NAME',
  summary:
    'create a network that reaches across hosts: isolated, routed to the outside, or an external network itself',
  examples: [
    'skerry network create backend --range 192.168.10.0/24',
    'skerry network create web --range 10.20.0.0/16 --routed --pool 10.20.1.1-10.20.1.250',
    'skerry network create lab --range 10.30.0.0/24 --routed --ipv6',
    'skerry network create plant --direct office --org blue',
  ],
  next: 'skerry create VM --network NAME creates a VM on it',
  options: {
    range: { type: 'string', value: 'CIDR', doc: 'its addresses, /16 to /29' },
    routed: { type: 'boolean', doc: 'it reaches the outside by an edge gateway' },
    edge: {
      type: 'string',
      value: 'EDGE',
      doc: 'the edge gateway of a routed network (default: that of the data centre)',
    },
    ipv6: {
      type: 'boolean',
      doc: 'VMs on a routed network have IPv6 addresses too, which reach nothing outside',
    },
    direct: {
      type: 'string',
      value: 'EXTERNAL',
      doc: 'its VMs are on this external network itself (cloud administrators only)',
    },
    gateway: {
      type: 'string',
      value: 'ADDRESS',
      doc: 'address of its router (default: the first of the range)',
    },
    pool: {
      type: 'string',
      value: 'A-B',
      doc: 'addresses that VMs get (default: all but the gateway)',
    },
    dns: { type: 'string', value: 'A,B', doc: 'name servers for the guests' },
    ...vdcOptions,
    ...waitOptions,
  },
  async run(context, { words: [name = ''], options, json }) {
    const { vdc, org } = options
    const wanted = { name, vdc, org, kind: readKind(name, options) }
    const how = { label: `creating network ${name}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => make(sessionIn(context), wanted, doing))
  },
})

interface NetworkChange {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly pool?: string | undefined
  readonly dns?: string | undefined
  readonly ipv6?: boolean | undefined
}

/** Only what changes: the rest stays. */
function changeOf(before: Element, change: NetworkChange): Element {
  const { name, description, pool, dns, ipv6 } = change
  const scopes = changedScopeOf(before, { pool, dns })
  return element(
    'OrgVdcNetwork',
    { name: name ?? attribute(before, 'name') },
    description !== undefined && element('Description', {}, description),
    scopes &&
      element(
        'Configuration',
        {},
        scopes,
        element('FenceMode', {}, textIn(find(before, 'Configuration'), 'FenceMode')),
      ),
    ipv6 !== undefined && element('IsIpv6Enabled', {}, String(ipv6)),
  )
}

async function setNetwork(
  side: CloudSession,
  word: string,
  change: NetworkChange,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { cloud } = side
  const { href } = await oneNamed(side, kinds.network, word)
  const before = await cloud.get(href)
  const edit = linkOf(before, 'edit')
  if (edit === undefined) {
    throw new Failure('refused', `network ${word} cannot be changed with your role`, {
      hint: 'ask an administrator of the organisation',
    })
  }
  const changed = await cloud.act('PUT', edit, { body: changeOf(before, change) })
  const begun = await follow(side, changed && taskIn(changed), doing)
  const name = change.name ?? word
  if (begun && !begun.ended) return underWay(`network ${name}`, begun.id)
  return {
    text: `network ${name} is changed`,
    body: { name, href },
    next: 'skerry network list shows it',
  }
}

const set = command({
  name: 'network set',
  asks: 'cloud',
  usage: 'NETWORK',
  summary: 'change a network: its name and description, pool, name servers and IPv6',
  examples: [
    'skerry network set lab --ipv6 yes',
    'skerry network set backend --pool 192.168.10.100-192.168.10.199 --dns 192.168.10.2',
  ],
  next: 'skerry network list shows it',
  options: {
    ipv6: {
      type: 'string',
      value: 'yes|no',
      doc: 'whether VMs on a routed network have IPv6 addresses too; only while no VM is on it',
    },
    pool: {
      type: 'string',
      value: 'A-B',
      doc: 'addresses that VMs get, also several ranges: A-B,C-D; VMs keep theirs',
    },
    dns: { type: 'string', value: 'A,B', doc: 'name servers for the guests, or none' },
    name: { type: 'string', doc: 'new name' },
    description: { type: 'string', doc: 'text stored with it' },
    ...waitOptions,
  },
  async run(context, { words: [word = ''], options, json }) {
    const { pool, dns, name, description } = options
    const ipv6 = yesOrNo('--ipv6', options.ipv6)
    const change = { pool, dns, name, description, ipv6 }
    if (Object.values(change).every((each) => each === undefined)) {
      throw new Failure('usage', 'no change given', { hint: 'skerry network set --help' })
    }
    const side = sessionIn(context)
    const how = { label: `changing network ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => setNetwork(side, word, change, doing))
  },
})

const rm = command({
  name: 'network rm',
  asks: 'cloud',
  usage: 'NETWORK',
  summary: 'delete a network; no VM may be on it',
  examples: ['skerry network rm backend'],
  next: 'skerry network list lists the others',
  options: waitOptions,
  async run(context, { words: [word = ''], options, json }) {
    const side = sessionIn(context)
    const how = { label: `deleting network ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) => {
      const { href } = await oneNamed(side, kinds.network, word)
      return remove(side, kinds.network, href, doing)
    })
  },
})

export const network: readonly Command[] = [create, set, rm]
