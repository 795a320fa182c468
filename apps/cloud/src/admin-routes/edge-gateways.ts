import { Fault } from '@skerry/fault'

import { makeOnce } from '../database/request-keys.ts'
import type { Tx } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import {
  edgeGateway as edgeGatewayDocument,
  externalAddress,
  externalAddresses,
} from '../documents/edge/edge-gateway.ts'
import type { NetworkOperation } from '../domain/network-operations.ts'
import { Hrefs } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import {
  changedEdgeGateway,
  externalAddressParams,
  newEdgeGateway,
} from '../params/edge/edge-gateway.ts'
import { edgeServices } from '../params/edge/services.ts'
import { QueryParameters, typeNamed } from '../query/query.ts'
import { accepted } from '../responses/accepted-task.ts'
import { answerQuery } from '../routes/query.ts'
import { openEdgeGatewayTasks } from '../tasks/find-task.ts'
import { submitUnit } from '../tasks/submit-unit.ts'
import {
  addEdgeGateway,
  changeEdgeGateway,
  configureServices,
  deleteEdgeGateway,
} from '../tenants/edge-gateways.ts'
import { readWholeEdgeGateway } from '../tenants/edge-surroundings.ts'
import { releaseAddress, takeAddress, takenAddresses } from '../tenants/external-addresses.ts'
import { requireQuota } from '../tenants/quotas.ts'

const whole = async (tx: Tx, id: string) => ({
  gateway: await readWholeEdgeGateway(tx, id),
  tasks: await openEdgeGatewayTasks(tx, id),
})

const change = (operation: NetworkOperation) => ({ kind: 'edge_gateway', operation }) as const

const gateways = [
  route({
    name: 'listEdgeGateways',
    method: 'GET',
    path: at.edgeGateways,
    permission: 'network:read',
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: `The edge gateways of a vdc, as GET ${at.query}?type=edgeGateway lists them.`,
    async handle(context, caller) {
      const { vdc } = caller.params
      const path = new URL(new Hrefs(context.base).edgeGateways(vdc.id)).pathname
      const within = `vdc==${vdc.id}`
      return answerQuery(context, caller, typeNamed('edgeGateway'), { path, within })
    },
  }),
  route({
    name: 'addEdgeGateway',
    method: 'POST',
    path: at.edgeGateways,
    permission: 'external:admin',
    takes: newEdgeGateway,
    answers: { 201: 'admin.edgeGateway' },
    doc: 'Creates an edge gateway to the external network that its uplink names (default: the default one). A vdc gets one called default when it first needs it.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const task = await submitUnit(context, caller, change('createEdgeGateway'), async (tx) => {
        const made = await addEdgeGateway(tx, principal, params.vdc, body)
        await requireQuota(tx, made.org, 'edgeGateway')
        return made
      })
      const { edge_gateway: id } = task
      if (id === null) throw new TypeError(`task ${task.id} creates no edge gateway`)
      const { gateway, tasks } = await context.as(principal, (tx) => whole(tx, id))
      const hrefs = new Hrefs(context.base)
      const headers = { location: hrefs.edgeGateway(id) }
      return { status: 201, headers, body: edgeGatewayDocument(gateway, tasks, caller, hrefs) }
    },
  }),
  readRoute({
    name: 'readEdgeGateway',
    path: at.edgeGateway,
    permission: 'network:read',
    answers: { 200: 'admin.edgeGateway' },
    doc: 'An edge gateway: its external network and addresses, its networks, its firewall, NAT rules and static routes. Its status is 1 when all hosts have it as it is here.',
    read: (tx, { edgeGateway }) => whole(tx, edgeGateway.id),
    show: ({ base }, caller, { gateway, tasks }) => ({
      status: 200,
      body: edgeGatewayDocument(gateway, tasks, caller, new Hrefs(base)),
    }),
  }),
  route({
    name: 'changeEdgeGateway',
    method: 'PUT',
    path: at.edgeGateway,
    permission: 'network:edit',
    takes: changedEdgeGateway,
    answers: { 202: 'task' },
    doc: 'Changes name, description and services of an edge gateway. With the right external:admin also its uplink, while it has no external addresses, NAT rules and static routes. What the body does not contain stays; a body with an older version is refused.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const task = await submitUnit(context, caller, change('updateEdgeGateway'), (tx) =>
        changeEdgeGateway(tx, principal, params.edgeGateway, body),
      )
      return accepted(context, caller, task)
    },
  }),
  route({
    name: 'deleteEdgeGateway',
    method: 'DELETE',
    path: at.edgeGateway,
    permission: 'external:admin',
    answers: { 202: 'task' },
    doc: 'Deletes an edge gateway that has no networks and no external addresses.',
    async handle(context, caller) {
      const { principal, params } = caller
      const task = await submitUnit(context, caller, change('deleteEdgeGateway'), (tx) =>
        deleteEdgeGateway(tx, principal, params.edgeGateway),
      )
      return accepted(context, caller, task)
    },
  }),
  route({
    name: 'configureServices',
    method: 'POST',
    path: at.configureServices,
    permission: 'network:edit',
    takes: edgeServices,
    answers: { 202: 'task' },
    doc: 'Replaces services of an edge gateway: FirewallService, NatService, StaticRoutingService. Those that the body does not contain stay. A body with an older version is refused.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const task = await submitUnit(context, caller, change('configureServices'), (tx) =>
        configureServices(tx, principal, params.edgeGateway, body),
      )
      return accepted(context, caller, task)
    },
  }),
]

const addresses = [
  readRoute({
    name: 'listExternalAddresses',
    path: at.externalAddresses,
    permission: 'network:read',
    answers: { 200: 'admin.externalAddresses' },
    doc: 'The external addresses that the organisation took for an edge gateway.',
    read: async (tx, { edgeGateway }) =>
      takenAddresses(await readWholeEdgeGateway(tx, edgeGateway.id)),
    show: ({ base }, caller, taken) => ({
      status: 200,
      body: externalAddresses(taken, caller.params.edgeGateway, caller, new Hrefs(base)),
    }),
  }),
  route({
    name: 'takeExternalAddress',
    method: 'POST',
    path: at.externalAddresses,
    permission: 'network:edit',
    takes: externalAddressParams,
    answers: { 201: 'admin.externalAddress' },
    doc: 'Takes an address of the external network for the organisation: the one that IpAddress names, or the next free one.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const taken = await context.as(principal, async (tx) => {
        const address = await makeOnce(tx, principal, caller.request, () =>
          takeAddress(tx, principal, params.edgeGateway, body.address),
        )
        const all = takenAddresses(await readWholeEdgeGateway(tx, params.edgeGateway.id))
        return all.find((each) => each.address === address)
      })
      if (!taken) throw new Fault('conflict', 'the address that this request took was released')
      const hrefs = new Hrefs(context.base)
      const headers = { location: hrefs.externalAddresses(params.edgeGateway.id) }
      const document = externalAddress(taken, params.edgeGateway, caller, hrefs)
      return { status: 201, headers, body: document }
    },
  }),
  route({
    name: 'releaseExternalAddress',
    method: 'DELETE',
    path: at.externalAddress,
    permission: 'network:edit',
    answers: { 204: 'nothing' },
    doc: 'Gives an external address back. No NAT rule may use it.',
    async handle(context, caller) {
      const { principal, params } = caller
      await context.as(principal, (tx) =>
        releaseAddress(tx, principal, params.edgeGateway, params.address),
      )
      return { status: 204 }
    },
  }),
]

export const edgeGateways = [...gateways, ...addresses]
