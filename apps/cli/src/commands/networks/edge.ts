import { attribute, element, type Element } from '@skerry/xml'

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

const info = command({
  name: 'edge info',
  asks: 'cloud',
  usage: '[EDGE]',
  summary: 'show an edge gateway: its address outside, its networks and its rules',
  examples: ['skerry edge info', 'skerry edge info default'],
  next: 'skerry nat list and skerry firewall list show its rules',
  async run(context, { words: [name], json }) {
    const side = sessionIn(context)
    const gateway = gatewayIn(await side.cloud.get(await gatewayFor(side, name)))
    if (json) return context.print(JSON.stringify(gateway, null, 2))
    const { firewall, nat } = gateway
    const { rules, enabled, otherwise } = firewall
    return context.print(
      renderDetails([
        ['name', gateway.name],
        ['external network', gateway.external],
        ['address', gateway.address],
        ['networks', gateway.networks.join(', ')],
        ['NAT rules', String(nat.length)],
        ['firewall', enabled ? `${rules.length} rules, otherwise ${otherwise}` : 'off'],
        ['version of rules', String(gateway.version)],
      ]),
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

export const edge: readonly Command[] = [info, set]
