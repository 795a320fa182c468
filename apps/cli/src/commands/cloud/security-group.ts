import { inside, linkOf, linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { isBlockText } from '@skerry/vm'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { adminOrg } from '../../cloud/admin-org.ts'
import { findNamed, kinds, oneNamed, type NamedResource } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type Command } from '../../command.ts'
import { printResult } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { wholeNumber } from '../../terminal/number.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import { readLabel } from './read-label.ts'

/** One of its rules, as it is shown. */
interface ShownRule {
  readonly rule: number
  readonly direction: 'in' | 'out'
  readonly protocol: string
  readonly ports: string
  readonly peer: string
}

const sections = { in: 'Inbound', out: 'Outbound' } as const

async function documentOf(side: CloudSession, word: string): Promise<Element> {
  const { href } = await oneNamed(side, kinds.securityGroup, word)
  return side.cloud.get(href)
}

const textIn = (node: Element, name: string): string | undefined =>
  text(childrenByLocalName(node, name)[0])

function rulesIn(group: Element): readonly ShownRule[] {
  const rules = (['in', 'out'] as const).flatMap((direction) =>
    inside(group, sections[direction], 'Rule').map((rule) => ({ direction, rule })),
  )
  return rules.map(({ direction, rule }, at) => ({
    rule: at + 1,
    direction,
    protocol: textIn(rule, 'Protocol') ?? '',
    ports: textIn(rule, 'PortRange') ?? 'all',
    peer:
      textIn(rule, 'Cidr') ??
      attribute(childrenByLocalName(rule, 'PeerGroup')[0], 'name') ??
      'anybody',
  }))
}

const columns: readonly TableColumn<ShownRule>[] = [
  { head: 'RULE', align: 'right', cell: ({ rule }) => String(rule) },
  { head: 'DIRECTION', cell: ({ direction }) => direction },
  { head: 'PROTOCOL', cell: ({ protocol }) => protocol },
  { head: 'PORTS', cell: ({ ports }) => ports },
  { head: 'PEER', cell: ({ peer }) => peer },
]

function describeGroup(group: Element) {
  const labels = inside(group, 'Selector', 'Label').map(
    (label) => `${textIn(label, 'Key')}=${textIn(label, 'Value')}`,
  )
  return {
    name: attribute(group, 'name') ?? '',
    labels,
    limits: (['in', 'out'] as const).filter(
      (side) => childrenByLocalName(group, sections[side]).length > 0,
    ),
    rules: rulesIn(group),
    vms: inside(group, 'Members', 'VMReference').map((vm) => attribute(vm, 'name') ?? ''),
    ready: attribute(group, 'status') === '1',
    href: attribute(group, 'href') ?? '',
  }
}

/** Sends the group with other rules. It is refused if someone else has changed it meanwhile. */
async function change(
  { cloud, profile }: CloudSession,
  group: Element,
  parts: readonly Element[],
): Promise<Element> {
  const name = attribute(group, 'name')
  const edit = linkOf(group, 'edit')
  if (edit === undefined) throw mayNot(`security group ${name} cannot be changed`, profile.user)
  const body = element('SecurityGroup', { name, version: attribute(group, 'version') }, ...parts)
  const changed = await cloud.act('PUT', edit, { body })
  return changed ?? cloud.get(edit)
}

const mayNot = (message: string, user: string): Failure =>
  new Failure('refused', message, {
    hint: `${user} is no administrator of the organisation`,
  })

/** The parts of a group that a request repeats, with other rules. */
const partsOf = (
  group: Element,
  rules: Readonly<Record<'in' | 'out', readonly Element[] | undefined>>,
) => [
  ...childrenByLocalName(group, 'Description'),
  ...childrenByLocalName(group, 'Selector'),
  ...(rules.in ? [element('Inbound', {}, ...rules.in)] : []),
  ...(rules.out ? [element('Outbound', {}, ...rules.out)] : []),
]

const sectionsOf = (group: Element) => {
  const of = (side: 'in' | 'out') => {
    const [section] = childrenByLocalName(group, sections[side])
    return section && childrenByLocalName(section, 'Rule')
  }
  return { in: of('in'), out: of('out') }
}

const info = command({
  name: 'security-group info',
  asks: 'cloud',
  usage: 'GROUP',
  summary: 'show the labels, the rules and the VMs of a security group',
  examples: ['skerry security-group info web'],
  next: 'skerry security-group allow GROUP adds a rule',
  async run(context, { words: [word = ''], json }) {
    const found = describeGroup(await documentOf(sessionIn(context), word))
    if (json) return context.print(JSON.stringify(found, null, 2))
    const { name, labels, limits, rules, vms, ready } = found
    const limited = { in: 'accept', out: 'send' }
    const said = limits.map((side) => limited[side]).join(' and ')
    context.print(
      `${name}: VMs with ${labels.join(' and ') || 'no label, so none,'} ${
        said === '' ? 'are not limited' : `${said} only what a rule allows`
      }`,
    )
    if (rules.length > 0) context.print(renderTable(columns, rules, context.colours))
    context.print(`VMs: ${vms.join(', ') || 'none'}`)
    if (!ready) context.print('a change is on its way to the hosts')
    return undefined
  },
})

function labelOf(written: string): Element {
  const { key, value } = readLabel(written)
  return element('Label', {}, element('Key', {}, key), element('Value', {}, value))
}

const create = command({
  name: 'security-group create',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'create a security group: VMs with its labels accept only what its rules allow',
  examples: [
    'skerry security-group create web --label role=web',
    'skerry security-group create vault --label role=vault --label stage=live --out',
  ],
  next: 'skerry security-group allow NAME adds what its VMs accept',
  options: {
    label: {
      type: 'string',
      value: 'KEY=VALUE',
      multiple: true,
      doc: 'metadata entry that its VMs have; repeatable: they have all of them',
    },
    out: { type: 'boolean', doc: 'its VMs also send only what a rule allows' },
  },
  async run(context, { words: [name = ''], options, json }) {
    const side = sessionIn(context)
    const { label = [], out = false } = options
    const labels = label.map(labelOf)
    const org = await adminOrg(side)
    const body = element(
      'SecurityGroup',
      { name },
      element('Selector', {}, ...labels),
      element('Inbound', {}),
      out && element('Outbound', {}),
    )
    const made = await side.cloud.act('POST', linkTo(org, 'add', 'admin.securityGroup'), { body })
    printResult(context, json, {
      text: `security group ${name} is created`,
      body: { name, href: attribute(made, 'href') },
      next: `skerry security-group allow ${name} --protocol tcp --port 443`,
    })
  },
})

/** The group that a peer names. Undefined: it is anybody, or a block of addresses. */
async function groupOf(
  side: CloudSession,
  peer: string | undefined,
): Promise<NamedResource | undefined> {
  if (peer === undefined || isBlockText(peer)) return undefined
  const found = await findNamed(side, kinds.securityGroup, peer)
  if (found) return found
  throw new Failure('refused', `there is no security group ${peer}`, {
    hint: `${kinds.securityGroup.listed} lists them; addresses are written like 10.0.0.0/8`,
  })
}

const allow = command({
  name: 'security-group allow',
  asks: 'cloud',
  usage: 'GROUP',
  summary: 'add a rule to a security group: what its VMs accept, or send',
  examples: [
    'skerry security-group allow web --protocol tcp --port 443',
    'skerry security-group allow db --protocol tcp --port 5432 --peer web',
    'skerry security-group allow db --out --protocol udp --port 53 --peer 9.9.9.9',
  ],
  next: 'skerry security-group info GROUP shows all of its rules',
  options: {
    protocol: { type: 'string', value: 'PROTOCOL', doc: 'tcp, udp, icmp or any (default: any)' },
    port: { type: 'string', value: 'PORT', doc: 'port of the destination, or a range: 8000-8100' },
    peer: {
      type: 'string',
      value: 'PEER',
      doc: 'addresses (10.0.0.0/8), or a security group (default: anybody)',
    },
    out: { type: 'boolean', doc: 'what its VMs send (default: what they accept)' },
  },
  async run(context, { words: [word = ''], options, json }) {
    const side = sessionIn(context)
    const { protocol = 'any', port, peer, out = false } = options
    const group = await documentOf(side, word)
    const named = await groupOf(side, peer)
    const rule = element(
      'Rule',
      {},
      element('Protocol', {}, protocol),
      port !== undefined && element('PortRange', {}, port),
      peer !== undefined && !named && element('Cidr', {}, peer),
      named && element('PeerGroup', { name: named.name, href: named.href }),
    )
    const now = sectionsOf(group)
    const more = out
      ? { in: now.in, out: [...(now.out ?? []), rule] }
      : { in: [...(now.in ?? []), rule], out: now.out }
    const changed = describeGroup(await change(side, group, partsOf(group, more)))
    printResult(context, json, {
      text: `security group ${changed.name} has the rule`,
      body: changed,
    })
  },
})

const rm = command({
  name: 'security-group rm',
  asks: 'cloud',
  usage: 'GROUP',
  summary: 'delete a security group, or one of its rules',
  examples: ['skerry security-group rm web', 'skerry security-group rm web --rule 2'],
  next: 'skerry security-group list lists the others',
  options: {
    rule: {
      type: 'string',
      value: 'N',
      doc: 'only this rule, as skerry security-group info counts',
    },
  },
  async run(context, { words: [word = ''], options, json }) {
    const side = sessionIn(context)
    const group = await documentOf(side, word)
    const name = attribute(group, 'name') ?? ''
    const number = wholeNumber('--rule', options.rule)
    if (number !== undefined) {
      await change(side, group, partsOf(group, without(group, number)))
      const done = { name, done: `without rule ${number}` }
      return printResult(context, json, {
        text: `security group ${name} is without rule ${number}`,
        body: done,
      })
    }
    const remove = linkOf(group, 'remove')
    if (remove === undefined) {
      throw mayNot(`security group ${name} cannot be deleted`, side.profile.user)
    }
    await side.cloud.act('DELETE', remove)
    return printResult(context, json, {
      text: `security group ${name} is deleted`,
      body: { name, done: 'deleted' },
    })
  },
})

function without(group: Element, number: number) {
  const { in: inbound, out: outbound } = sectionsOf(group)
  const before = inbound?.length ?? 0
  const all = before + (outbound?.length ?? 0)
  if (number < 1 || number > all) {
    throw new Failure(
      'refused',
      `security group ${attribute(group, 'name')} has no rule ${number}`,
      {
        hint: `it has ${all}: skerry security-group info ${attribute(group, 'name')}`,
      },
    )
  }
  return {
    in: inbound?.filter((_, at) => at + 1 !== number),
    out: outbound?.filter((_, at) => before + at + 1 !== number),
  }
}

export const securityGroup: readonly Command[] = [info, create, allow, rm]
