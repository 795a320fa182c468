import { linkTo } from '@skerry/cloud-client'
import { attribute, element } from '@skerry/xml'

import { adminOrg } from '../admin-org.ts'
import { actOn } from '../cloud-act.ts'
import { kinds, oneNamed } from '../cloud-named.ts'
import { sideIn, type CloudSide } from '../cloud-side.ts'
import { command, type Command } from '../command.ts'
import { doAndSay } from '../say.ts'

interface Switch {
  readonly name: string
  readonly usage: string
  readonly verb: 'enable' | 'disable'
  readonly summary: string
  readonly next: string
  readonly kind: (typeof kinds)['org' | 'host']
  readonly href: (side: CloudSide, word: string) => Promise<string>
}

const hostHref = async (side: CloudSide, word: string) =>
  (await oneNamed(side, kinds.host, word)).href
const orgHref = async (side: CloudSide, word: string) =>
  attribute(await adminOrg(side, word), 'href') ?? ''

const switches: readonly Switch[] = [
  {
    ...{ name: 'host enable', usage: 'HOST', kind: kinds.host, href: hostHref },
    verb: 'enable',
    summary: 'place VMs on a host',
    next: 'skerry host list shows what is on each',
  },
  {
    ...{ name: 'host disable', usage: 'HOST', kind: kinds.host, href: hostHref },
    verb: 'disable',
    summary: 'place nothing more on a host; what is on it stays',
    next: 'skerry host enable HOST places on it again',
  },
  {
    ...{ name: 'org enable', usage: 'ORG', kind: kinds.org, href: orgHref },
    verb: 'enable',
    summary: 'let the users of an organisation in again',
    next: 'skerry user list --org ORG shows them',
  },
  {
    ...{ name: 'org disable', usage: 'ORG', kind: kinds.org, href: orgHref },
    verb: 'disable',
    summary: 'let nobody of an organisation in; its VMs run on',
    next: 'skerry org enable ORG lets them in again',
  },
]

const switchRow = ({ name, usage, verb, summary, next, kind, href }: Switch): Command =>
  command({
    ...{ name, usage, summary, next },
    asks: 'cloud',
    examples: [`skerry ${name} ${kind === kinds.host ? 'host-1' : 'blue'}`],
    async run(world, { words: [word = ''], json }) {
      const side = sideIn(world)
      await doAndSay(world, { label: `${verb} ${word}`, wait: true, json }, async (doing) => {
        const act = { kind, href: await href(side, word), rel: verb, done: `${verb}d` }
        return actOn(side, act, doing)
      })
    },
  })

const orgAdd = command({
  name: 'org add',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'a new organisation, for administrators of the cloud; nobody is in it yet',
  examples: ['skerry org add red'],
  next: 'skerry vdc add NAME --org ORG, then skerry user add USER@ORG',
  async run(world, { words: [name = ''], json }) {
    const body = element('AdminOrg', { name })
    const made = await sideIn(world).cloud.act('POST', '/api/admin/orgs', { body })
    const told = { name, href: attribute(made, 'href') }
    world.print(json ? JSON.stringify(told, null, 2) : `organisation ${name} is made`)
  },
})

const vdcAdd = command({
  name: 'vdc add',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'a new data centre of an organisation, for administrators of the cloud',
  examples: ['skerry vdc add main --org red'],
  next: 'skerry create ID --vdc VDC makes a VM in it',
  options: { org: { type: 'string', value: 'ORG', doc: 'of this one; your own unless told' } },
  async run(world, { words: [name = ''], options, json }) {
    const side = sideIn(world)
    const org = await adminOrg(side, options.org)
    const body = element('AdminVdc', { name })
    const made = await side.cloud.act('POST', linkTo(org, 'add', 'admin.vdc'), { body })
    const told = { name, org: attribute(org, 'name'), href: attribute(made, 'href') }
    world.print(json ? JSON.stringify(told, null, 2) : `data centre ${name} is made`)
  },
})

export const administration: readonly Command[] = [...switches.map(switchRow), orgAdd, vdcAdd]
