import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { TaskRow } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import { allocatedAddresses, network as networkDocument } from '../documents/network.ts'
import type { NetworkOperation } from '../domain/network-operations.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../http/route.ts'
import { changedNetwork, newNetwork } from '../params/network.ts'
import { accepted } from '../responses/accepted-task.ts'
import { openNetworkTasks } from '../tasks/find-task.ts'
import { submitUnit } from '../tasks/submit-unit.ts'
import { allocatedIn, readWholeNetwork } from '../tenants/network-rows.ts'
import { addNetwork, changeNetwork, deleteNetwork } from '../tenants/networks.ts'
import { requireQuota } from '../tenants/quotas.ts'

interface Wanted {
  readonly id: string
  readonly administered?: boolean
  /** The task that creates it, which clients follow also if it has just ended. */
  readonly task?: TaskRow
}

async function documentOf(
  context: RequestContext,
  caller: Caller,
  { id, administered = false, task }: Wanted,
) {
  const found = await context.as(caller.principal, async (tx) => ({
    whole: await readWholeNetwork(tx, id),
    tasks: task ? [task] : await openNetworkTasks(tx, id),
  }))
  return networkDocument({ ...found, administered }, caller, new Hrefs(context.base))
}

const change = (operation: NetworkOperation) => ({ kind: 'network', operation }) as const

const reading = (name: string, path: typeof at.network | typeof at.adminNetwork) =>
  route({
    name,
    method: 'GET',
    path,
    permission: 'org:read',
    answers: { 200: 'orgVdcNetwork' },
    doc: 'A network of a vdc: its addresses, and whether it reaches the outside. Its status is 1 when all hosts have it as it is here.',
    async handle(context, caller) {
      const administered = path === at.adminNetwork
      const shown = { id: caller.params.network.id, administered }
      return { status: 200, body: await documentOf(context, caller, shown) }
    },
  })

export const networks = [
  route({
    name: 'addNetwork',
    method: 'POST',
    path: at.adminNetworks,
    permission: 'network:edit',
    takes: newNetwork,
    answers: { 201: 'orgVdcNetwork' },
    doc: 'Creates a network: isolated, or natRouted behind an edge gateway (default: that of the vdc). Its range has a netmask from /16 to /29 and may be the same as that of another organisation. With IsIpv6Enabled a natRouted network has IPv6 too. The task in the response ends when the hosts have the network.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const task = await submitUnit(context, caller, change('createNetwork'), async (tx) => {
        const made = await addNetwork(tx, principal, params.vdc, body)
        await requireQuota(tx, made.org, 'network')
        return made
      })
      const { network } = task
      if (network === null) throw new TypeError(`task ${task.id} creates no network`)
      const headers = { location: new Hrefs(context.base).network(network) }
      return {
        status: 201,
        headers,
        body: await documentOf(context, caller, { id: network, task }),
      }
    },
  }),
  reading('readNetwork', at.network),
  reading('readAdminNetwork', at.adminNetwork),
  route({
    name: 'changeNetwork',
    method: 'PUT',
    path: at.adminNetwork,
    permission: 'network:edit',
    takes: changedNetwork,
    answers: { 202: 'task' },
    doc: 'Changes name, description, name servers and IpRanges of a network; gateway, netmask and IsIpv6Enabled only while no VM is on it. What the body does not contain stays. VMs keep their addresses.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const task = await submitUnit(context, caller, change('updateNetwork'), (tx) =>
        changeNetwork(tx, principal, params.network, body),
      )
      return accepted(context, caller, task)
    },
  }),
  route({
    name: 'deleteNetwork',
    method: 'DELETE',
    path: at.adminNetwork,
    permission: 'network:edit',
    answers: { 202: 'task' },
    doc: 'Deletes a network. No VM may be on it.',
    async handle(context, caller) {
      const { principal, params } = caller
      const task = await submitUnit(context, caller, change('deleteNetwork'), (tx) =>
        deleteNetwork(tx, principal, params.network),
      )
      return accepted(context, caller, task)
    },
  }),
  route({
    name: 'listAllocatedAddresses',
    method: 'GET',
    path: at.allocatedAddresses,
    permission: 'vm:read',
    answers: { 200: 'allocatedNetworkAddress' },
    doc: 'The addresses of a network that VMs have, in their order.',
    async handle(context, caller) {
      const { network } = caller.params
      const allocated = await context.as(caller.principal, (tx) => allocatedIn(tx, network.id))
      const hrefs = new Hrefs(context.base)
      return { status: 200, body: allocatedAddresses(network, allocated, caller, hrefs) }
    },
  }),
]
