import { renderTable, type TableColumn } from '@skerry/command-line'

import { addNatRule, removeNatRules, type NatRuleToAdd } from '../../cloud/edge/change-services.ts'
import { edgeOption, gatewayFor } from '../../cloud/edge/find-gateway.ts'
import { natRulesIn, servicesOf, type SeenNatRule } from '../../cloud/edge/seen-gateway.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { changeRules } from './change-rules.ts'
import { readEndpoint, readProtocol } from './ports.ts'

const withPort = (address: string, port: number | null): string =>
  port === null ? address : `${address}:${port}`

const columns: readonly TableColumn<SeenNatRule>[] = [
  { head: 'RULE', cell: ({ id }) => id },
  { head: 'KIND', cell: ({ kind }) => kind },
  { head: 'PROTOCOL', cell: ({ protocol }) => protocol },
  { head: 'EXTERNAL', cell: ({ external, port }) => withPort(external, port) },
  { head: 'INTERNAL', cell: ({ internal, internalPort }) => withPort(internal, internalPort) },
  {
    head: 'ENABLED',
    cell: ({ enabled }) => (enabled ? 'yes' : 'no'),
    colour: ({ enabled }) => (enabled ? undefined : 'yellow'),
  },
]

const list = command({
  name: 'nat list',
  asks: 'cloud',
  usage: '',
  summary: 'list the NAT rules of an edge gateway: which external addresses lead where',
  examples: ['skerry nat list', 'skerry nat list --edge default --json'],
  next: 'skerry nat rm RULE removes one',
  options: edgeOption,
  async run(context, { options, json }) {
    const side = sessionIn(context)
    const gateway = await side.cloud.get(await gatewayFor(side, options.edge))
    const rules = natRulesIn(servicesOf(gateway))
    const { print, colours } = context
    print(json ? JSON.stringify(rules, null, 2) : renderTable(columns, rules, colours))
  },
})

const natKinds = ['forward', 'one-to-one', 'snat'] as const

/** Reads ADDRESS, which is external, and TARGET, which is internal: with ports for a forward, without for the others. */
function readRule(
  kind: string,
  outer: string,
  inner: string,
  protocol: string | undefined,
): NatRuleToAdd {
  if (kind === 'forward') {
    const [external, internal] = [readEndpoint(outer), readEndpoint(inner)]
    if (external.port === undefined) {
      throw new Failure('usage', `a forward needs the external port, like ${outer}:443`)
    }
    return {
      kind,
      external: external.address,
      port: external.port,
      internal: internal.address,
      internalPort: internal.port ?? external.port,
      protocol: readProtocol(protocol),
    }
  }
  const known = natKinds.find((each) => each === kind)
  if (known === undefined) {
    throw new Failure('usage', `KIND must be one of ${natKinds.join(', ')}, not ${kind}`)
  }
  if (protocol !== undefined) {
    throw new Failure('usage', '--protocol is for forwards; other rules mean all protocols')
  }
  return { kind: known, external: outer, internal: inner }
}

const add = command({
  name: 'nat add',
  asks: 'cloud',
  usage: 'KIND ADDRESS TARGET',
  summary:
    'add a NAT rule to an edge gateway: forward a port, map a whole address one-to-one, or translate what goes out (snat)',
  examples: [
    'skerry nat add forward 203.0.113.7:443 10.84.0.10:8443',
    'skerry nat add one-to-one 203.0.113.8 10.84.0.11',
    'skerry nat add snat 203.0.113.8 10.84.0.0/20',
  ],
  next: 'skerry firewall allow lets packets pass; skerry publish VM does both in one change',
  options: {
    protocol: { type: 'string', value: 'PROTOCOL', doc: 'of a forward: tcp or udp (default: tcp)' },
    ...edgeOption,
    ...waitOptions,
  },
  async run(context, { words: [kind = '', outer = '', inner = ''], options, json }) {
    const side = sessionIn(context)
    const wanted = readRule(kind, outer, inner, options.protocol)
    const how = { label: 'adding a NAT rule', wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) =>
      changeRules(
        side,
        {
          gateway: await gatewayFor(side, options.edge),
          change: (services) => addNatRule(services, wanted),
          text: `${outer} leads to ${inner}`,
          next:
            kind === 'snat'
              ? 'skerry nat list'
              : `skerry firewall allow --to ${wanted.external}${wanted.port === undefined ? '' : ` --port ${wanted.port}`}`,
        },
        doing,
      ),
    )
  },
})

const rm = command({
  name: 'nat rm',
  asks: 'cloud',
  usage: 'RULE...',
  summary: 'remove NAT rules of an edge gateway',
  examples: ['skerry nat rm 65538'],
  next: 'skerry nat list lists the others',
  options: { ...edgeOption, ...waitOptions },
  async run(context, { words, options, json }) {
    const side = sessionIn(context)
    const how = { label: 'removing NAT rules', wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) =>
      changeRules(
        side,
        {
          gateway: await gatewayFor(side, options.edge),
          change: (services) => removeNatRules(services, words),
          text: `NAT rule ${words.join(', ')} is removed`,
        },
        doing,
      ),
    )
  },
})

export const nat: readonly Command[] = [list, add, rm]
