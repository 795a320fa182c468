import { Fault } from '@skerry/fault'

import { at } from '../dialect/addresses.ts'
import { host, hosts } from '../documents/admin/hosts.ts'
import { enableHost, listHosts } from '../hosts/host-states.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../http/route.ts'

const enabling = (enabled: boolean) =>
  route({
    name: enabled ? 'enableHost' : 'disableHost',
    method: 'POST',
    path: enabled ? at.enableHost : at.disableHost,
    permission: 'host:admin',
    answers: { 204: 'nothing' },
    doc: enabled
      ? 'Enables a host: new VMs may be placed on it.'
      : 'Disables a host: no new VMs are placed on it; its VMs stay.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => enableHost(tx, params.host.id, enabled, principal.user))
      return { status: 204 }
    },
  })

export const adminHosts = [
  route({
    name: 'listHosts',
    method: 'GET',
    path: at.adminHosts,
    permission: 'host:admin',
    answers: { 200: 'admin.hosts' },
    doc: 'Lists the hosts: the machines that run VMs.',
    async handle(context, caller) {
      const rows = await context.as(caller.principal, listHosts)
      return { status: 200, body: hosts(rows, caller, new Hrefs(context.base)) }
    },
  }),
  route({
    name: 'readHost',
    method: 'GET',
    path: at.adminHost,
    permission: 'host:admin',
    answers: { 200: 'admin.host' },
    doc: 'A host: whether it is reachable, its capacity and its usage.',
    async handle(context, caller) {
      const rows = await context.as(caller.principal, listHosts)
      const row = rows.find(({ id }) => id === caller.params.host.id)
      if (!row) throw new Fault('not-found', 'the host no longer exists')
      return { status: 200, body: host(row, caller, new Hrefs(context.base)) }
    },
  }),
  enabling(true),
  enabling(false),
]
