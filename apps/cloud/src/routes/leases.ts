import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { leaseSection } from '../documents/sections.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/things.ts'
import { leaseParams } from '../params/lease.ts'
import { route } from '../route.ts'
import { readLease, setLease } from '../store/leases.ts'
import { write } from '../write-down.ts'

const vappOf = (entity: Entity) => {
  if (entity.is === 'vapp') return entity.vapp
  throw new Fault('invalid', 'leases are of vApps, not of VMs', { hint: 'ask its vApp' })
}

export const leases = [
  route({
    name: 'readLease',
    method: 'GET',
    path: at.lease,
    permission: 'vm:read',
    answers: { 200: 'leaseSettingsSection' },
    doc: 'How long a vApp may run, and is kept when it does not; 0: for ever.',
    async handle(world, asker) {
      const { id } = vappOf(asker.params.entity)
      const lease = await world.as(asker.who, (tx) => readLease(tx, id))
      const href = new Hrefs(world.base).vapp(id)
      return { status: 200, body: leaseSection(lease, href, asker) }
    },
  }),
  route({
    name: 'changeLease',
    method: 'PUT',
    path: at.lease,
    permission: 'vm:edit',
    takes: leaseParams,
    answers: { 202: 'task' },
    doc: 'Sets its leases, within what the organisation may have, and begins them anew. What the body does not name stays.',
    async handle(world, asker) {
      vappOf(asker.params.entity)
      return write(world, asker, asker.params.entity, 'updateLease', (tx, subject) =>
        setLease(tx, subject, asker.body),
      )
    },
  }),
]
