import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { host, hosts } from '../documents/admin.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../route.ts'
import { enableHost, listHosts } from '../store/host-states.ts'

const enabling = (enabled: boolean) =>
  route({
    name: enabled ? 'enableHost' : 'disableHost',
    method: 'POST',
    path: enabled ? at.enableHost : at.disableHost,
    permission: 'host:admin',
    answers: { 204: 'nothing' },
    doc: enabled ? 'Places VMs on it.' : 'Places no more VMs on it; those there stay.',
    async handle(world, { who, params }) {
      await world.as(who, (tx) => enableHost(tx, params.host.id, enabled, who.user))
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
    doc: 'The machines that VMs run on.',
    async handle(world, asker) {
      const rows = await world.as(asker.who, listHosts)
      return { status: 200, body: hosts(rows, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readHost',
    method: 'GET',
    path: at.adminHost,
    permission: 'host:admin',
    answers: { 200: 'admin.host' },
    doc: 'One of them: whether it is seen, what it has, what of it is used.',
    async handle(world, asker) {
      const rows = await world.as(asker.who, listHosts)
      const row = rows.find(({ id }) => id === asker.params.host.id)
      if (!row) throw new Fault('not-found', 'this host is no more')
      return { status: 200, body: host(row, asker, new Hrefs(world.base)) }
    },
  }),
  enabling(true),
  enabling(false),
]
