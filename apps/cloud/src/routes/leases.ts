import { Fault } from '@skerry/fault'

import { at } from '../dialect/addresses.ts'
import { leaseSection } from '../documents/sections.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/path-resources.ts'
import { readRoute, route } from '../http/route.ts'
import { leaseParams } from '../params/lease.ts'
import { recordImmediateTask } from '../responses/immediate-task.ts'
import { readLease, setLease } from '../tenants/leases.ts'

const vappOf = (entity: Entity) => {
  if (entity.kind === 'vapp') return entity.vapp
  throw new Fault('invalid', 'vApps have leases, VMs do not', { hint: 'send it to its vApp' })
}

export const leases = [
  readRoute({
    name: 'readLease',
    path: at.lease,
    permission: 'vm:read',
    answers: { 200: 'leaseSettingsSection' },
    doc: 'How long a vApp may run, and how long it is kept while it does not run; 0: no limit.',
    read: async (tx, { entity }) => readLease(tx, vappOf(entity).id),
    show({ base }, caller, lease) {
      const href = new Hrefs(base).vapp(vappOf(caller.params.entity).id)
      return { status: 200, body: leaseSection(lease, href, caller) }
    },
  }),
  route({
    name: 'changeLease',
    method: 'PUT',
    path: at.lease,
    permission: 'vm:edit',
    takes: leaseParams,
    answers: { 202: 'task' },
    doc: 'Sets the leases of a vApp, within the limits of its organisation, and restarts them. What the body does not contain stays.',
    async handle(context, caller) {
      vappOf(caller.params.entity)
      return recordImmediateTask(
        context,
        caller,
        caller.params.entity,
        'updateLease',
        (tx, subject) => setLease(tx, subject, caller.body),
      )
    },
  }),
]
