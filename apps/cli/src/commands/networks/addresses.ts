import { linkOf, linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { edgeOption, gatewayFor } from '../../cloud/edge/find-gateway.ts'
import { gatewayIn } from '../../cloud/edge/seen-gateway.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type Command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

/** An external address that an edge gateway has. */
interface ExternalAddressRow {
  readonly address: string
  readonly network: string
  readonly edge: string
  /** The edge gateway's own, or taken by the organisation. */
  readonly purpose: 'gateway' | 'taken'
  /** Rules that use it. */
  readonly rules: number
}

const columns: readonly TableColumn<ExternalAddressRow>[] = [
  { head: 'ADDRESS', cell: ({ address }) => address },
  { head: 'EXTERNAL NETWORK', cell: ({ network }) => network },
  { head: 'EDGE GATEWAY', cell: ({ edge }) => edge },
  { head: 'OF', cell: ({ purpose }) => (purpose === 'gateway' ? 'the edge gateway' : 'you') },
  { head: 'RULES', align: 'right', cell: ({ rules }) => String(rules) },
]

const addressIn = (entry: Element): string =>
  text(childrenByLocalName(entry, 'IpAddress')[0])?.trim() ?? ''

/** Where the external addresses of an edge gateway are listed and taken. */
const listOf = (gateway: Element): string => linkTo(gateway, 'down', 'externalAddresses')

async function rowsOf(
  { cloud }: CloudSession,
  gateway: Element,
): Promise<readonly ExternalAddressRow[]> {
  const { name: edge, external: network, address: own, nat } = gatewayIn(gateway)
  const entries = childrenByLocalName(await cloud.get(listOf(gateway)), 'ExternalAddress')
  const taken = entries.map(addressIn).filter((address) => address !== own)
  return [own, ...taken].map((address) => ({
    address,
    network,
    edge,
    purpose: address === own ? 'gateway' : 'taken',
    rules: nat.filter(({ external }) => external === address).length,
  }))
}

const list = command({
  name: 'address list',
  asks: 'cloud',
  usage: '',
  summary: 'list the external addresses of an edge gateway: its own, and those that you took',
  examples: ['skerry address list', 'skerry address list --json'],
  next: 'skerry address take takes another one',
  options: edgeOption,
  async run(context, { options, json }) {
    const side = sessionIn(context)
    const gateway = await side.cloud.get(await gatewayFor(side, options.edge))
    const rows = await rowsOf(side, gateway)
    const { print, colours } = context
    print(json ? JSON.stringify(rows, null, 2) : renderTable(columns, rows, colours))
  },
})

const take = command({
  name: 'address take',
  asks: 'cloud',
  usage: '[ADDRESS]',
  summary:
    'take an external address for an edge gateway: the next free one, or the one that you name',
  examples: ['skerry address take', 'skerry address take 203.0.113.8'],
  next: 'skerry nat add one-to-one ADDRESS INTERNAL, or skerry publish VM --port PORT --address ADDRESS',
  options: edgeOption,
  async run(context, { words: [named], options, json }) {
    const side = sessionIn(context)
    const gateway = await side.cloud.get(await gatewayFor(side, options.edge))
    const wanted = named !== undefined && element('IpAddress', {}, named)
    const body = element('ExternalAddress', {}, wanted)
    const made = await side.cloud.act('POST', listOf(gateway), { body })
    const address = made ? addressIn(made) : (named ?? '')
    const { name: edge, external: network } = gatewayIn(gateway)
    const said = `${address} of ${network} leads to edge gateway ${edge}`
    context.print(json ? JSON.stringify({ address, network, edge }, null, 2) : said)
  },
})

const release = command({
  name: 'address release',
  asks: 'cloud',
  usage: 'ADDRESS',
  summary: 'give an external address back; no rule may use it',
  examples: ['skerry address release 203.0.113.8'],
  next: 'skerry address list lists the others',
  options: edgeOption,
  async run(context, { words: [address = ''], options, json }) {
    const side = sessionIn(context)
    const gateway = await side.cloud.get(await gatewayFor(side, options.edge))
    const entries = childrenByLocalName(await side.cloud.get(listOf(gateway)), 'ExternalAddress')
    const found = entries.find((entry) => addressIn(entry) === address)
    if (!found) {
      const { address: own } = gatewayIn(gateway)
      throw new Failure('refused', `${address} is not an address that you took`, {
        hint:
          address === own
            ? 'it is the edge gateway’s own and stays with it'
            : 'skerry address list lists them',
      })
    }
    const href = linkOf(found, 'remove')
    if (href === undefined) {
      throw new Failure('refused', `${address} cannot be released`, {
        hint: `remove the rules that use it (skerry nat list), or ${side.profile.user} lacks the right`,
      })
    }
    await side.cloud.act('DELETE', href)
    context.print(json ? JSON.stringify({ released: address }, null, 2) : `${address} is released`)
  },
})

export const externalAddresses: readonly Command[] = [list, take, release]
