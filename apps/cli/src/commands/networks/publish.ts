import type { Element } from '@skerry/xml'

import { networkedCards } from '../../cloud/edge/find-gateway.ts'
import { publishPort, unpublishPort } from '../../cloud/edge/publication.ts'
import { gatewayIn, OUTBOUND } from '../../cloud/edge/seen-gateway.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { findVm } from '../../cloud/vm.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { countingNumber } from '../../terminal/number.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../../vms/vm-backend.ts'
import { changeRules } from './change-rules.ts'
import { readPortPair, readProtocol } from './ports.ts'

const portOptions = {
  port: {
    type: 'string',
    value: 'PORT[:PORT]',
    doc: 'the port outside, and that of the guest if it is another one: 443:8443',
  },
  protocol: { type: 'string', value: 'PROTOCOL', doc: 'tcp or udp (default: tcp)' },
  card: {
    type: 'string',
    value: 'N',
    doc: 'which card of the VM (default: the first one behind an edge gateway)',
  },
} as const

interface PortOptions {
  readonly port?: string
  readonly protocol?: string
  readonly card?: string
}

function readPublished(options: PortOptions) {
  if (options.port === undefined) {
    throw new Failure('usage', 'give the port to publish', { hint: 'such as --port 443' })
  }
  return {
    ...readPortPair(options.port),
    protocol: readProtocol(options.protocol),
    card: countingNumber('--card', options.card),
  }
}

/** The address of a card of a VM that an edge gateway leads to: the card of this number, or the first one. */
async function cardToPublish(
  side: CloudSession,
  word: string,
  card: number | undefined,
): Promise<{ readonly internal: string; readonly href: string }> {
  const { document } = await findVm(side, word)
  const reachable = (await networkedCards(side, document)).flatMap(({ index, address, gateway }) =>
    gateway === undefined ? [] : [{ index, internal: address, href: gateway }],
  )
  const found = reachable.find(({ index }) => card === undefined || index === card)
  if (found) return found
  const connect = `skerry connect ${word} default${cardWords(card)}`
  const cards = reachable.map(({ index }) => index).join(', ')
  throw new Failure(
    'refused',
    `${card === undefined ? word : `card ${card} of ${word}`} is on no network with an edge gateway`,
    {
      hint:
        cards === ''
          ? `connect it to a routed network while it is off: ${connect}`
          : `use another card: ${cards}; or connect it to a routed network while the VM is off: ${connect}`,
    },
  )
}

const cardWords = (card: number | undefined): string =>
  card === undefined ? '' : ` --card ${card}`

/** A gateway on the outbound network cannot be reached: its hosts translate all that goes out, and nothing comes in. */
function requireReachable(gateway: Element): void {
  const { name, external } = gatewayIn(gateway)
  if (external !== OUTBOUND) return
  throw new Failure(
    'refused',
    `edge gateway ${name} is on the network ${OUTBOUND}, where nothing arrives from outside`,
    {
      hint: 'an administrator of the cloud creates an external network (skerry external create) and moves the edge gateway to it (skerry edge set)',
    },
  )
}

interface PublishRequest extends ReturnType<typeof readPublished> {
  readonly vm: string
  readonly external: string | undefined
  readonly from: string
}

const reachText = (address: string, port: number, protocol: 'tcp' | 'udp'): string => {
  if (protocol === 'tcp' && port === 443) return `https://${address}`
  if (protocol === 'tcp' && port === 80) return `http://${address}`
  return `${address}, ${protocol} port ${port}`
}

async function publishVm(
  side: CloudSession,
  { vm, port, inner, protocol, card, from, ...wanted }: PublishRequest,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { internal, href } = await cardToPublish(side, vm, card)
  const gateway = await side.cloud.get(href)
  requireReachable(gateway)
  const external = wanted.external ?? gatewayIn(gateway).address
  const result = await changeRules(
    side,
    {
      gateway: href,
      change: (services) =>
        publishPort(services, {
          vm,
          external,
          port,
          internal,
          internalPort: inner,
          protocol,
          from,
        }),
      text: `port ${inner} of ${vm} is published: ${reachText(external, port, protocol)}`,
      next: `skerry unpublish ${vm} --port ${port}${protocol === 'tcp' ? '' : ' --protocol udp'}${cardWords(card)} ends it`,
    },
    doing,
  )
  if (result.task) return result
  const shown = { vm, address: external, port, internal, internalPort: inner, protocol, from }
  return { ...result, body: shown }
}

const publish = command({
  name: 'publish',
  asks: 'cloud',
  usage: 'VM',
  summary:
    'publish a port of a VM: forward a port of its edge gateway to it and let it pass the firewall, in one change',
  examples: [
    'skerry publish web --port 443',
    'skerry publish web --port 443:8443 --address 203.0.113.7',
    'skerry publish web --port 22 --from 198.51.100.0/24',
    'skerry publish web --port 8443 --card 1',
  ],
  next: 'connect to the address that it prints; skerry unpublish VM --port PORT ends it',
  options: {
    ...portOptions,
    address: {
      type: 'string',
      value: 'ADDRESS',
      doc: 'external address that the organisation took (default: that of the edge gateway)',
    },
    from: { type: 'string', value: 'CIDR', doc: 'who may connect (default: any)' },
    ...waitOptions,
  },
  async run(context, { words: [vm = ''], options, json }) {
    const side = sessionIn(context)
    const { address: external, from = 'any' } = options
    const wanted = { ...readPublished(options), vm, external, from }
    const how = { label: `publishing ${vm}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => publishVm(side, wanted, doing))
  },
})

const unpublish = command({
  name: 'unpublish',
  asks: 'cloud',
  usage: 'VM',
  summary:
    'end the publication of a port of a VM: its forward and its firewall rule, in one change',
  examples: ['skerry unpublish web --port 443'],
  next: 'skerry nat list lists what is still published',
  options: { ...portOptions, ...waitOptions },
  async run(context, { words: [vm = ''], options, json }) {
    const side = sessionIn(context)
    const { port, protocol, card } = readPublished(options)
    const how = { label: `unpublishing ${vm}`, wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) => {
      const { internal, href: gateway } = await cardToPublish(side, vm, card)
      const change = (services: Element) =>
        unpublishPort(services, { vm, internal, port, protocol })
      const text = `port ${port} of ${vm} is not published any more`
      return changeRules(side, { gateway, change, text }, doing)
    })
  },
})

export const publication: readonly Command[] = [publish, unpublish]
