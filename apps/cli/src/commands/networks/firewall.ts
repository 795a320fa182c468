import { renderTable, type TableColumn } from '@skerry/command-line'

import {
  addFirewallRule,
  moveFirewallRule,
  removeFirewallRules,
  type FirewallRuleToAdd,
} from '../../cloud/edge/change-services.ts'
import { edgeOption, gatewayFor } from '../../cloud/edge/find-gateway.ts'
import { firewallIn, servicesOf, type SeenFirewallRule } from '../../cloud/edge/seen-gateway.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { changeRules } from './change-rules.ts'
import { readPorts } from './ports.ts'

const columns: readonly TableColumn<SeenFirewallRule>[] = [
  { head: 'RULE', cell: ({ id }) => id },
  {
    head: 'POLICY',
    cell: ({ policy }) => policy,
    colour: ({ policy }) => (policy === 'allow' ? 'green' : 'red'),
  },
  { head: 'DIRECTION', cell: ({ direction }) => direction },
  { head: 'PROTOCOLS', cell: ({ protocols }) => protocols.join(',') },
  { head: 'FROM', cell: ({ source }) => source },
  { head: 'TO', cell: ({ destination }) => destination },
  { head: 'PORT', cell: ({ ports }) => ports },
  {
    head: 'ENABLED',
    cell: ({ enabled }) => (enabled ? 'yes' : 'no'),
    colour: ({ enabled }) => (enabled ? undefined : 'yellow'),
  },
  { head: 'DESCRIPTION', cell: ({ description }) => description },
]

const list = command({
  name: 'firewall list',
  asks: 'cloud',
  usage: '',
  summary: 'list the firewall rules of an edge gateway; the first one that matches decides',
  examples: ['skerry firewall list', 'skerry firewall list --edge default --json'],
  next: 'skerry firewall move RULE --before RULE changes their order',
  options: edgeOption,
  async run(context, { options, json }) {
    const side = sessionIn(context)
    const gateway = await side.cloud.get(await gatewayFor(side, options.edge))
    const { rules, enabled, otherwise } = firewallIn(servicesOf(gateway))
    const { print, colours, complain } = context
    if (json) return print(JSON.stringify(rules, null, 2))
    print(renderTable(columns, rules, colours))
    if (!enabled) return complain('the firewall is off: no rule has an effect')
    complain(`otherwise: ${otherwise} what comes in, allow what goes out`)
  },
})

const ruleOptions = {
  protocol: {
    type: 'string',
    value: 'LIST',
    doc: 'tcp, udp, icmp or any, also several: tcp,udp (default: tcp with --port, else any)',
  },
  port: { type: 'string', value: 'PORT', doc: 'destination port, or a range: 8000-8100' },
  from: {
    type: 'string',
    value: 'SOURCE',
    doc: 'address, CIDR, A-B, internal or external (default: any)',
  },
  to: {
    type: 'string',
    value: 'DESTINATION',
    doc: 'address, CIDR, A-B, internal or external (default: any)',
  },
  out: { type: 'boolean', doc: 'a rule for packets that go out (default: that come in)' },
  before: { type: 'string', value: 'RULE', doc: 'place it before this rule (default: the last)' },
  description: { type: 'string', doc: 'text stored with the rule' },
  ...edgeOption,
  ...waitOptions,
} as const

const protocolNames = ['tcp', 'udp', 'icmp', 'any']

function readProtocols(text: string): readonly string[] {
  const named = text.split(',').map((each) => each.trim().toLowerCase())
  const wrong = named.find((each) => !protocolNames.includes(each))
  if (wrong === undefined) return named
  throw new Failure('usage', `--protocol must be of ${protocolNames.join(', ')}, not ${wrong}`)
}

interface RuleOptions {
  readonly protocol?: string
  readonly port?: string
  readonly from?: string
  readonly to?: string
  readonly out?: boolean
  readonly description?: string
}

function readRule(policy: 'allow' | 'deny', options: RuleOptions): FirewallRuleToAdd {
  const { port, from = 'any', to = 'any', out = false, description } = options
  const protocols = readProtocols(options.protocol ?? (port === undefined ? 'any' : 'tcp'))
  if (port !== undefined && protocols.includes('icmp')) {
    throw new Failure('usage', 'icmp has no ports', { hint: 'omit --port' })
  }
  return {
    policy,
    direction: out ? 'out' : 'in',
    protocols,
    source: from,
    destination: to,
    ports: port === undefined ? undefined : readPorts(port),
    description,
  }
}

const ruleRow = (policy: 'allow' | 'deny', summary: string, examples: readonly string[]) =>
  command({
    name: `firewall ${policy}`,
    asks: 'cloud',
    usage: '',
    summary,
    examples,
    next: 'skerry firewall list shows the order of all rules',
    options: ruleOptions,
    async run(context, { options, json }) {
      const side = sessionIn(context)
      const wanted = readRule(policy, options)
      const how = { label: 'adding a firewall rule', wait: wantsWait(options), json }
      await doAndSay(context, how, async (doing) =>
        changeRules(
          side,
          {
            gateway: await gatewayFor(side, options.edge),
            change: (services) => addFirewallRule(services, wanted, options.before),
            text: `the firewall ${policy === 'allow' ? 'allows' : 'denies'} ${wantedText(wanted)}`,
          },
          doing,
        ),
      )
    },
  })

const wantedText = ({ protocols, source, destination, ports }: FirewallRuleToAdd): string =>
  `${protocols.join(', ')} from ${source} to ${destination}${ports === undefined ? '' : `, port ${ports}`}`

const allow = ruleRow('allow', 'add a firewall rule that lets packets pass an edge gateway', [
  'skerry firewall allow --port 443 --to 203.0.113.7',
  'skerry firewall allow --protocol icmp --from 198.51.100.0/24',
])
const deny = ruleRow('deny', 'add a firewall rule that drops packets at an edge gateway', [
  'skerry firewall deny --out --protocol tcp --port 25',
  'skerry firewall deny --from 198.51.100.66 --before 65537',
])

const move = command({
  name: 'firewall move',
  asks: 'cloud',
  usage: 'RULE',
  summary: 'move a firewall rule of an edge gateway; the first rule that matches decides',
  examples: ['skerry firewall move 65540 --before 65537', 'skerry firewall move 65540 --last'],
  next: 'skerry firewall list shows the order of all rules',
  options: {
    before: { type: 'string', value: 'RULE', doc: 'place it before this rule' },
    last: { type: 'boolean', doc: 'place it after all others' },
    ...edgeOption,
    ...waitOptions,
  },
  async run(context, { words: [rule = ''], options, json }) {
    const { before, last = false } = options
    if ((before === undefined) !== last) {
      throw new Failure('usage', 'give --before RULE or --last')
    }
    const side = sessionIn(context)
    const how = { label: `moving rule ${rule}`, wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) =>
      changeRules(
        side,
        {
          gateway: await gatewayFor(side, options.edge),
          change: (services) => moveFirewallRule(services, rule, before),
          text: `firewall rule ${rule} is ${last ? 'the last one' : `before ${before}`}`,
        },
        doing,
      ),
    )
  },
})

const rm = command({
  name: 'firewall rm',
  asks: 'cloud',
  usage: 'RULE...',
  summary: 'remove firewall rules of an edge gateway',
  examples: ['skerry firewall rm 65537'],
  next: 'skerry firewall list lists the others',
  options: { ...edgeOption, ...waitOptions },
  async run(context, { words, options, json }) {
    const side = sessionIn(context)
    const how = { label: 'removing firewall rules', wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) =>
      changeRules(
        side,
        {
          gateway: await gatewayFor(side, options.edge),
          change: (services) => removeFirewallRules(services, words),
          text: `firewall rule ${words.join(', ')} is removed`,
        },
        doing,
      ),
    )
  },
})

export const firewall: readonly Command[] = [list, allow, deny, move, rm]
