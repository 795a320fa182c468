import { attribute, element, type Element } from '@skerry/xml'

import { actOn } from '../../cloud/act.ts'
import { kinds, oneNamed } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { wholeNumber } from '../../terminal/number.ts'
import { ipScopeOf } from './ip-scope.ts'

interface WantedExternal {
  readonly name: string
  readonly range: string
  readonly uplink: string
  readonly vlan?: number | undefined
  readonly gateway?: string | undefined
  readonly pool?: string | undefined
  readonly dns?: string | undefined
  readonly isDefault: boolean
}

const bodyOf = ({ name, uplink, vlan, isDefault, ...scope }: WantedExternal): Element =>
  element(
    'VMWExternalNetwork',
    { name },
    element('Configuration', {}, ipScopeOf(scope), element('FenceMode', {}, 'isolated')),
    element('Uplink', {}, uplink),
    vlan !== undefined && element('Vlan', {}, vlan),
    element('IsDefault', {}, String(isDefault)),
  )

const create = command({
  name: 'external create',
  asks: 'cloud',
  usage: 'NAME',
  summary:
    'create an external network: a network of the site, with addresses for edge gateways and organisations (cloud administrators only)',
  examples: [
    'skerry external create office --range 203.0.113.0/24 --uplink office --pool 203.0.113.10-203.0.113.99 --default',
    'skerry external create office --range 203.0.113.0/24 --uplink office --vlan 42 --gateway 203.0.113.254 --pool 203.0.113.10-203.0.113.99',
  ],
  next: 'skerry publish VM --port PORT uses it, once the edge gateway of the VM is on it',
  options: {
    range: { type: 'string', value: 'CIDR', doc: 'its addresses' },
    uplink: {
      type: 'string',
      value: 'NAME',
      doc: 'the name by which hosts know it: --uplink of skerry vmd',
    },
    vlan: { type: 'string', value: 'N', doc: 'VLAN on that uplink (default: untagged)' },
    gateway: {
      type: 'string',
      value: 'ADDRESS',
      doc: 'address of its router (default: the first of the range)',
    },
    pool: { type: 'string', value: 'A-B', doc: 'addresses that the cloud may use' },
    dns: { type: 'string', value: 'A,B', doc: 'name servers' },
    default: { type: 'boolean', doc: 'new edge gateways are made on it' },
  },
  async run(context, { words: [name = ''], options, json }) {
    const { range, uplink, gateway, pool, dns } = options
    if (range === undefined || uplink === undefined || pool === undefined) {
      throw new Failure(
        'usage',
        'an external network needs its addresses, its pool and its uplink',
        {
          hint: `skerry external create ${name} --range 203.0.113.0/24 --pool 203.0.113.10-203.0.113.99 --uplink ${name}`,
        },
      )
    }
    const isDefault = options.default === true
    const vlan = wholeNumber('--vlan', options.vlan)
    const body = bodyOf({ name, range, uplink, vlan, gateway, pool, dns, isDefault })
    const to = '/api/admin/extension/externalNetworks'
    const made = await sessionIn(context).cloud.act('POST', to, { body })
    const created = { name, href: attribute(made, 'href') }
    context.print(json ? JSON.stringify(created, null, 2) : `external network ${name} is created`)
  },
})

const rm = command({
  name: 'external rm',
  asks: 'cloud',
  usage: 'EXTERNAL',
  summary: 'delete an external network that nothing uses (cloud administrators only)',
  examples: ['skerry external rm office'],
  next: 'skerry external list lists the others',
  async run(context, { words: [word = ''], json }) {
    const side = sessionIn(context)
    await doAndSay(context, { label: `deleting ${word}`, wait: true, json }, async (doing) => {
      const { href } = await oneNamed(side, kinds.external, word)
      const act = {
        kind: kinds.external,
        href,
        rel: 'remove',
        method: 'DELETE',
        done: 'deleted',
      } as const
      return actOn(side, act, doing)
    })
  },
})

export const external: readonly Command[] = [create, rm]
