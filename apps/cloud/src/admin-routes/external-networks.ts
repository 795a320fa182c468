import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { Tx } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import {
  externalNetwork as externalDocument,
  externalNetworks as externalsDocument,
  outsideNetwork as outsideDocument,
} from '../documents/edge/external-network.ts'
import { may } from '../domain/authorize.ts'
import { Hrefs } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { changedExternalNetwork, newExternalNetwork } from '../params/edge/external-network.ts'
import {
  addExternalNetwork,
  changeExternalNetwork,
  deleteExternalNetwork,
  externalNetworks as listExternalNetworks,
  findExternalNetwork,
  readWholeExternal,
  type ExternalNetworkRow,
} from '../tenants/external-networks.ts'

/** Makes a change, and reads what it made in the same transaction. */
const changing = async (
  context: RequestContext,
  caller: Caller,
  work: (tx: Tx) => Promise<ExternalNetworkRow>,
) => {
  const found = await context.as(caller.principal, async (tx) =>
    readWholeExternal(tx, await work(tx)),
  )
  const hrefs = new Hrefs(context.base)
  return {
    location: hrefs.externalNetwork(found.external.id),
    body: externalDocument(found, caller, hrefs),
  }
}

export const externalNetworks = [
  readRoute({
    name: 'listExternalNetworks',
    path: at.externalNetworks,
    permission: 'external:admin',
    answers: { 200: 'admin.externalNetworks' },
    doc: 'All external networks.',
    read: (tx) => listExternalNetworks(tx),
    show: ({ base }, caller, rows) => ({
      status: 200,
      body: externalsDocument(rows, caller, new Hrefs(base)),
    }),
  }),
  route({
    name: 'addExternalNetwork',
    method: 'POST',
    path: at.externalNetworks,
    permission: 'external:admin',
    takes: newExternalNetwork,
    answers: { 201: 'admin.externalNetwork' },
    doc: 'Creates an external network: the uplink by which hosts reach it, its gateway and netmask, and IpRanges, whose addresses are given to edge gateways and organisations.',
    async handle(context, caller) {
      const { principal, body } = caller
      const made = await changing(context, caller, (tx) => addExternalNetwork(tx, principal, body))
      return { status: 201, headers: { location: made.location }, body: made.body }
    },
  }),
  route({
    name: 'readExternalNetwork',
    method: 'GET',
    path: at.externalNetwork,
    permission: 'network:read',
    answers: { 200: 'admin.externalNetwork' },
    doc: 'An external network. Organisations see name, gateway and netmask of those that their edge gateways and networks lead to; the right external:admin also shows the pool, and how many of its addresses are in use.',
    async handle(context, caller) {
      const { principal, params } = caller
      const hrefs = new Hrefs(context.base)
      const whole = may(principal, 'external:admin')
        ? await context.as(principal, async (tx) => {
            const external = await findExternalNetwork(tx, params.externalNetwork.id)
            return external && readWholeExternal(tx, external)
          })
        : undefined
      const body = whole
        ? externalDocument(whole, caller, hrefs)
        : outsideDocument(params.externalNetwork, caller, hrefs)
      return { status: 200, body }
    },
  }),
  route({
    name: 'changeExternalNetwork',
    method: 'PUT',
    path: at.externalNetwork,
    permission: 'external:admin',
    takes: changedExternalNetwork,
    answers: { 200: 'admin.externalNetwork' },
    doc: 'Changes name, description, name servers and IpRanges of an external network, and whether it is the default. Addresses in use stay in the IpRanges.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const changed = await changing(context, caller, (tx) =>
        changeExternalNetwork(tx, principal, params.externalNetwork, body),
      )
      return { status: 200, body: changed.body }
    },
  }),
  route({
    name: 'deleteExternalNetwork',
    method: 'DELETE',
    path: at.externalNetwork,
    permission: 'external:admin',
    answers: { 204: 'nothing' },
    doc: 'Deletes an external network that no edge gateway and no network leads to.',
    async handle(context, caller) {
      const { principal, params } = caller
      await context.as(principal, (tx) =>
        deleteExternalNetwork(tx, principal, params.externalNetwork),
      )
      return { status: 204 }
    },
  }),
]
