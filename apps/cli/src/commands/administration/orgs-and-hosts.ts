import { linkTo } from '@skerry/cloud-client'
import { attribute, element } from '@skerry/xml'

import { actOn } from '../../cloud/act.ts'
import { adminOrg } from '../../cloud/admin-org.ts'
import { kinds, oneNamed } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { yesOrNo } from '../../terminal/yes-or-no.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

interface Switch {
  readonly name: string
  readonly usage: string
  readonly verb: 'enable' | 'disable'
  readonly summary: string
  readonly next: string
  readonly kind: (typeof kinds)['org' | 'host']
  readonly href: (side: CloudSession, word: string) => Promise<string>
}

const hostHref = async (side: CloudSession, word: string) =>
  (await oneNamed(side, kinds.host, word)).href
const orgHref = async (side: CloudSession, word: string) =>
  attribute(await adminOrg(side, word), 'href') ?? ''

const switches: readonly Switch[] = [
  {
    name: 'host enable',
    usage: 'HOST',
    kind: kinds.host,
    href: hostHref,
    verb: 'enable',
    summary: 'allow new VMs on a host',
    next: 'skerry host list shows the VMs and usage of each host',
  },
  {
    name: 'host disable',
    usage: 'HOST',
    kind: kinds.host,
    href: hostHref,
    verb: 'disable',
    summary: 'place no new VMs on a host; existing VMs keep running',
    next: 'skerry host enable HOST allows new VMs again',
  },
  {
    name: 'org enable',
    usage: 'ORG',
    kind: kinds.org,
    href: orgHref,
    verb: 'enable',
    summary: 'let the users of an organisation log in again',
    next: 'skerry user list --org ORG lists them',
  },
  {
    name: 'org disable',
    usage: 'ORG',
    kind: kinds.org,
    href: orgHref,
    verb: 'disable',
    summary: 'lock out all users of an organisation; its VMs keep running',
    next: 'skerry org enable ORG lets them log in again',
  },
]

const switchRow = ({ name, usage, verb, summary, next, kind, href }: Switch): Command =>
  command({
    name,
    usage,
    summary,
    next,
    asks: 'cloud',
    examples: [`skerry ${name} ${kind === kinds.host ? 'host-1' : 'blue'}`],
    async run(context, { words: [word = ''], json }) {
      const side = sessionIn(context)
      await doAndSay(context, { label: `${verb} ${word}`, wait: true, json }, async (doing) => {
        const act = { kind, href: await href(side, word), rel: verb, done: `${verb}d` }
        return actOn(side, act, doing)
      })
    },
  })

const orgCreate = command({
  name: 'org create',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'create an organisation without users (cloud administrators only)',
  examples: ['skerry org create red'],
  next: 'skerry vdc create NAME --org ORG, then skerry user create USER@ORG',
  async run(context, { words: [name = ''], json }) {
    const body = element('AdminOrg', { name })
    const made = await sessionIn(context).cloud.act('POST', '/api/admin/orgs', { body })
    const created = { name, href: attribute(made, 'href') }
    context.print(json ? JSON.stringify(created, null, 2) : `organisation ${name} is created`)
  },
})

const orgSet = command({
  name: 'org set',
  asks: 'cloud',
  usage: 'ORG',
  summary:
    'require a second factor from the users of an organisation, or not (cloud administrators only)',
  examples: [
    'skerry org set blue --require-second-factor yes',
    'skerry org set blue --require-second-factor no',
  ],
  next: 'users without one may only add one: skerry second-factor add NAME',
  options: {
    'require-second-factor': {
      type: 'string',
      value: 'yes|no',
      doc: 'whether a login with a password needs a second factor',
    },
  },
  async run(context, { words: [name = ''], options, json }) {
    const required = yesOrNo('--require-second-factor', options['require-second-factor'])
    if (required === undefined) throw new Failure('usage', 'give --require-second-factor')
    const side = sessionIn(context)
    const rule = element('SecondFactorRequired', {}, String(required))
    const body = element('AdminOrg', {}, rule)
    await side.cloud.act('PUT', linkTo(await adminOrg(side, name), 'edit'), { body })
    const said = required ? 'requires a second factor' : 'requires no second factor'
    context.print(
      json
        ? JSON.stringify({ name, secondFactorRequired: required }, null, 2)
        : `organisation ${name} ${said}`,
    )
  },
})

const vdcCreate = command({
  name: 'vdc create',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'create a data centre in an organisation (cloud administrators only)',
  examples: ['skerry vdc create main --org red'],
  next: 'skerry create ID --vdc VDC creates a VM in it',
  options: { org: { type: 'string', value: 'ORG', doc: 'organisation (default: yours)' } },
  async run(context, { words: [name = ''], options, json }) {
    const side = sessionIn(context)
    const org = await adminOrg(side, options.org)
    const body = element('AdminVdc', { name })
    const made = await side.cloud.act('POST', linkTo(org, 'add', 'admin.vdc'), { body })
    const created = { name, org: attribute(org, 'name'), href: attribute(made, 'href') }
    context.print(json ? JSON.stringify(created, null, 2) : `data centre ${name} is created`)
  },
})

export const administration: readonly Command[] = [
  ...switches.map(switchRow),
  orgCreate,
  orgSet,
  vdcCreate,
]
