import { renderTable, type TableColumn } from '@skerry/command-line'
import { isAddress, isBlockText } from '@skerry/vm'

import { addRoute, removeRoutes } from '../../cloud/edge/change-services.ts'
import { edgeOption, gatewayFor } from '../../cloud/edge/find-gateway.ts'
import { routesIn, servicesOf, type SeenRoute } from '../../cloud/edge/seen-gateway.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { changeRules } from './change-rules.ts'

const columns: readonly TableColumn<SeenRoute>[] = [
  { head: 'TARGET', cell: ({ network }) => network },
  { head: 'NEXT HOP', cell: ({ nexthop }) => nexthop },
  { head: 'NAME', cell: ({ name }) => name },
]

const list = command({
  name: 'route list',
  asks: 'cloud',
  usage: '',
  summary:
    'list the static routes of an edge gateway; all other packets go to its external network',
  examples: ['skerry route list', 'skerry route list --edge default --json'],
  next: 'skerry route rm ROUTE removes one',
  options: edgeOption,
  async run(context, { options, json }) {
    const side = sessionIn(context)
    const gateway = await side.cloud.get(await gatewayFor(side, options.edge))
    const routes = routesIn(servicesOf(gateway))
    const { print, colours } = context
    print(json ? JSON.stringify(routes, null, 2) : renderTable(columns, routes, colours))
  },
})

function requireTarget(text: string): string {
  if (isBlockText(text)) return text
  throw new Failure('usage', `${text} is not a network`, {
    hint: 'write it like 192.168.50.0/24, or as one address',
  })
}

function requireNexthop(text: string): string {
  if (isAddress(text)) return text
  throw new Failure('usage', `${text} is not an address`, {
    hint: 'give the address of a router that the edge gateway reaches, like 10.84.0.9',
  })
}

const add = command({
  name: 'route add',
  asks: 'cloud',
  usage: 'TARGET NEXTHOP',
  summary:
    'add a static route to an edge gateway: packets to a network go to a router behind it or outside',
  examples: [
    'skerry route add 192.168.50.0/24 10.84.0.9',
    'skerry route add 172.16.0.0/12 203.0.113.254 --name plant --edge default',
  ],
  next: 'skerry route list shows all routes',
  options: {
    name: { type: 'string', doc: 'text stored with the route' },
    ...edgeOption,
    ...waitOptions,
  },
  async run(context, { words: [target = '', hop = ''], options, json }) {
    const side = sessionIn(context)
    const { name = '' } = options
    const wanted = { network: requireTarget(target), nexthop: requireNexthop(hop), name }
    const how = { label: 'adding a static route', wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) =>
      changeRules(
        side,
        {
          gateway: await gatewayFor(side, options.edge),
          change: (services) => addRoute(services, wanted),
          text: `packets to ${target} go to ${hop}`,
        },
        doing,
      ),
    )
  },
})

const rm = command({
  name: 'route rm',
  asks: 'cloud',
  usage: 'ROUTE...',
  summary: 'remove static routes of an edge gateway, by the networks that they lead to',
  examples: ['skerry route rm 192.168.50.0/24'],
  next: 'skerry route list lists the others',
  options: { ...edgeOption, ...waitOptions },
  async run(context, { words, options, json }) {
    const side = sessionIn(context)
    const targets = words.map(requireTarget)
    const how = { label: 'removing static routes', wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) =>
      changeRules(
        side,
        {
          gateway: await gatewayFor(side, options.edge),
          change: (services) => removeRoutes(services, targets),
          text: `the route to ${targets.join(', ')} is removed`,
        },
        doing,
      ),
    )
  },
})

export const route: readonly Command[] = [list, add, rm]
