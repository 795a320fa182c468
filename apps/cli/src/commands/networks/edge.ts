import { linkOf, taskIn } from '@skerry/cloud-client'
import { attribute, element, type Element } from '@skerry/xml'

import { remove } from '../../cloud/act.ts'
import { gatewayFor } from '../../cloud/edge/find-gateway.ts'
import { gatewayIn } from '../../cloud/edge/seen-gateway.ts'
import { kinds, oneNamed } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { follow, underWay } from '../../cloud/task.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { renderDetails } from '../../terminal/details.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../../vms/vm-backend.ts'
import { findVdc, vdcOptions } from './find-vdc.ts'

const info = command({
  name: 'edge info',
  asks: 'cloud',
  usage: '[EDGE]',
  summary: 'show an edge gateway: its address outside, its networks and its rules',
  examples: ['skerry edge info', 'skerry edge info default'],
  next: 'skerry nat list, skerry firewall list and skerry route list show its rules and routes',
  async run(context, { words: [name], json }) {
    const side = sessionIn(context)
    const gateway = gatewayIn(await side.cloud.get(await gatewayFor(side, name)))
    if (json) return context.print(JSON.stringify(gateway, null, 2))
    const { firewall, nat, routes } = gateway
    const { rules, enabled, otherwise } = firewall
    return context.print(
      renderDetails([
        ['name', gateway.name],
        ['external network', gateway.external],
        ['address', gateway.address],
        ['networks', gateway.networks.join(', ')],
        ['NAT rules', String(nat.length)],
        ['firewall', enabled ? `${rules.length} rules, otherwise ${otherwise}` : 'off'],
        ['static routes', String(routes.length)],
        ['version of rules', String(gateway.version)],
      ]),
    )
  },
})

interface WantedGateway {
  readonly name: string
  readonly external?: string | undefined
  readonly vdc?: string | undefined
  readonly org?: string | undefined
}

async function make(
  side: CloudSession,
  { name, external, vdc, org }: WantedGateway,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { cloud } = side
  const place = await findVdc(side, { vdc, org })
  const to = linkOf(place, 'add', 'edgeGateway')
  if (to === undefined) {
    throw new Failure('refused', `${attribute(place, 'name')} takes no edge gateways`, {
      hint: 'an edge gateway needs an administrator of the cloud, and a cloud with a network server',
    })
  }
  const uplink =
    external === undefined ? undefined : (await oneNamed(side, kinds.external, external)).href
  const body = element('EdgeGateway', { name }, uplink !== undefined && uplinkTo(uplink))
  const made = await cloud.act('POST', to, { body })
  if (!made) throw new Failure('refused', 'the cloud returned no edge gateway')
  const begun = await follow(side, taskIn(made), doing)
  if (begun && !begun.ended) return underWay(`edge gateway ${name}`, begun.id)
  const { external: outside, address } = gatewayIn(made)
  return {
    text: `edge gateway ${name} is created: on ${outside}, address ${address}`,
    body: { name, external: outside, address, href: attribute(made, 'href') },
    next: `skerry network create NETWORK --range 10.20.0.0/24 --edge ${name}`,
  }
}

const create = command({
  name: 'edge create',
  asks: 'cloud',
  usage: 'NAME',
  summary:
    'create an edge gateway, for routed networks that need one of their own (cloud administrators only)',
  examples: [
    'skerry edge create shop --external office',
    'skerry edge create shop --org blue --vdc main',
  ],
  next: 'skerry network create NETWORK --edge NAME creates a network behind it',
  options: {
    external: {
      type: 'string',
      value: 'EXTERNAL',
      doc: 'external network that it is on (default: the default one)',
    },
    ...vdcOptions,
    ...waitOptions,
  },
  async run(context, { words: [name = ''], options, json }) {
    const { external, vdc, org } = options
    const how = { label: `creating edge gateway ${name}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) =>
      make(sessionIn(context), { name, external, vdc, org }, doing),
    )
  },
})

const set = command({
  name: 'edge set',
  asks: 'cloud',
  usage: 'EDGE',
  summary:
    'move an edge gateway without addresses and NAT rules to another external network (cloud administrators only), or rename it',
  examples: ['skerry edge set default --external office', 'skerry edge set shop --name store'],
  next: 'skerry edge info EDGE shows its new address',
  options: {
    external: { type: 'string', value: 'EXTERNAL', doc: 'external network to move it to' },
    name: { type: 'string', doc: 'new name' },
    ...waitOptions,
  },
  async run(context, { words: [word = ''], options, json }) {
    const { external, name } = options
    if (external === undefined && name === undefined) {
      throw new Failure('usage', 'no change given', { hint: 'skerry edge set --help' })
    }
    const side = sessionIn(context)
    const how = { label: `changing ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) => {
      const { href } = await oneNamed(side, kinds.edge, word)
      const before = await side.cloud.get(href)
      const uplink =
        external === undefined ? undefined : (await oneNamed(side, kinds.external, external)).href
      const body = element(
        'EdgeGateway',
        { name: name ?? attribute(before, 'name'), version: attribute(before, 'version') },
        uplink !== undefined && uplinkTo(uplink),
      )
      const begun = await follow(side, await side.cloud.act('PUT', href, { body }), doing)
      if (begun && !begun.ended) return underWay(`edge gateway ${word}`, begun.id)
      const gateway = gatewayIn(await side.cloud.get(href))
      const { address, version } = gateway
      const text = `edge gateway ${gateway.name} is on ${gateway.external}, address ${address}`
      return { text, body: { edge: gateway.name, version, done: text } }
    })
  },
})

const uplinkTo = (href: string): Element =>
  element(
    'Configuration',
    {},
    element(
      'GatewayInterfaces',
      {},
      element(
        'GatewayInterface',
        {},
        element('Network', { href }),
        element('InterfaceType', {}, 'uplink'),
      ),
    ),
  )

const rm = command({
  name: 'edge rm',
  asks: 'cloud',
  usage: 'EDGE',
  summary:
    'delete an edge gateway without networks and external addresses (cloud administrators only)',
  examples: ['skerry edge rm shop'],
  next: 'skerry edge list lists the others',
  options: waitOptions,
  async run(context, { words: [word = ''], options, json }) {
    const side = sessionIn(context)
    const how = { label: `deleting edge gateway ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) => {
      const { href } = await oneNamed(side, kinds.edge, word)
      return remove(side, kinds.edge, href, doing)
    })
  },
})

export const edge: readonly Command[] = [info, create, set, rm]
