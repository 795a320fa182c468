import { linkOf, taskIn } from '@skerry/cloud-client'
import { attribute, element, type Element } from '@skerry/xml'

import { actOn } from '../../cloud/act.ts'
import { vdcFor } from '../../cloud/create.ts'
import { kinds, oneNamed } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { follow, underWay } from '../../cloud/task.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../../vms/vm-backend.ts'
import { ipScopeOf, type WantedScope } from './ip-scope.ts'

interface WantedNetwork extends WantedScope {
  readonly name: string
  readonly routed: boolean
  readonly vdc?: string | undefined
}

const bodyOf = ({ name, routed, ...scope }: WantedNetwork): Element =>
  element(
    'OrgVdcNetwork',
    { name },
    element(
      'Configuration',
      {},
      ipScopeOf(scope),
      element('FenceMode', {}, routed ? 'natRouted' : 'isolated'),
    ),
  )

async function make(
  side: CloudSession,
  wanted: WantedNetwork,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { cloud } = side
  const body = bodyOf(wanted)
  const vdc = await cloud.get(await vdcFor(side, wanted.vdc))
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

const create = command({
  name: 'network create',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'create a network that reaches across hosts: isolated, or routed to the outside',
  examples: [
    'skerry network create backend --range 192.168.10.0/24',
    'skerry network create web --range 10.20.0.0/16 --routed --pool 10.20.1.1-10.20.1.250',
  ],
  next: 'skerry create VM --network NAME creates a VM on it',
  options: {
    range: { type: 'string', value: 'CIDR', doc: 'its addresses, /16 to /29' },
    routed: { type: 'boolean', doc: 'it reaches the outside by an edge gateway' },
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
    vdc: { type: 'string', value: 'VDC', doc: 'data centre of the network' },
    ...waitOptions,
  },
  async run(context, { words: [name = ''], options, json }) {
    const { range, routed = false, gateway, pool, dns, vdc } = options
    if (range === undefined) {
      throw new Failure('usage', 'a network needs its addresses', {
        hint: `skerry network create ${name} --range 192.168.10.0/24`,
      })
    }
    const wanted = { name, range, routed, gateway, pool, dns, vdc }
    const how = { label: `creating network ${name}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => make(sessionIn(context), wanted, doing))
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
      const act = {
        kind: kinds.network,
        href,
        rel: 'remove',
        method: 'DELETE',
        done: 'deleted',
      } as const
      return actOn(side, act, doing)
    })
  },
})

export const network: readonly Command[] = [create, rm]
