import { Fault } from '@skerry/fault'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { Tx } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import { snapshotSection } from '../documents/sections.ts'
import { vapp } from '../documents/vapp.ts'
import { vm } from '../documents/vm.ts'
import { ExplainQuery, explaining } from '../http/explain-query.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/path-resources.ts'
import { readRoute, route, type CloudRoute } from '../http/route.ts'
import { cardsOf, noCards } from '../inventory/nics.ts'
import { vmsOf } from '../inventory/vapps.ts'
import { vappOperations, type VappOperation } from '../operations/vapp-operations.ts'
import { operations } from '../operations/vm-operations.ts'
import { deployParams, undeployParams } from '../params/deploy.ts'
import { accepted } from '../responses/accepted-task.ts'
import { wholeVapp } from '../responses/created-vapp.ts'
import { subjectOf, recordImmediateTask } from '../responses/immediate-task.ts'
import { openTasks } from '../tasks/find-task.ts'
import type { Operation } from '../tasks/operation.ts'
import type { TaskRequest } from '../tasks/queue.ts'
import { submitTask, submitTogether } from '../tasks/submit-task.ts'
import { submit } from '../tasks/submit.ts'
import { setLease } from '../tenants/leases.ts'

/** Submits one task for a VM; for a vApp, one task with a part for each VM. */
async function submitFor(tx: Tx, entity: Entity, whole: VappOperation, requested: TaskRequest) {
  if (entity.kind === 'vapp')
    return submitTogether(tx, whole, { ...requested, vapp: entity.vapp.id })
  const { id: vm, name } = entity.vm
  const operation = whole.forVm(entity.vm)
  if (!operation) throw new Fault('conflict', `VM ${name} has nothing to apply ${whole.name} to`)
  const task = await submitTask(tx, operation, { ...requested, vm })
  return { task, vms: [vm], operations: [operation] }
}

async function submitOperation(
  context: RequestContext,
  caller: Caller,
  entity: Entity,
  whole: VappOperation,
  input: unknown = null,
  first?: (tx: Tx) => Promise<void>,
) {
  const owner = caller.principal.user
  const task = await submit(context, caller, async (tx, id) => {
    await first?.(tx)
    return submitFor(tx, entity, whole, { owner, id, input })
  })
  return accepted(context, caller, task)
}

/** Submits an operation that exists only for VMs. */
export async function submitVmOperation(
  context: RequestContext,
  caller: Caller,
  entity: Entity,
  operation: Operation,
  input: unknown = null,
) {
  if (entity.kind !== 'vm') {
    throw new Fault('invalid', `${operation.name} is for VMs, not for vApps`, {
      hint: 'send it to each VM in its Children',
    })
  }
  const { id: vm } = entity.vm
  const task = await submit(context, caller, async (tx, id) => {
    const owner = caller.principal.user
    const submitted = await submitTask(tx, operation, { vm, owner, id, input })
    return { task: submitted, vms: [vm], operations: [operation] }
  })
  return accepted(context, caller, task)
}

/** POST {entity}/power/action/powerOn and similar: one route for each operation that has a path. */
const actions: readonly CloudRoute[] = vappOperations.flatMap((whole) =>
  whole.action
    ? [
        route({
          name: whole.name,
          method: 'POST',
          path: `${at.entity}/${whole.action.path}` as typeof at.entity,
          permission: whole.permission,
          ...(whole.since !== undefined && { since: whole.since }),
          ...(whole.takes && { takes: whole.takes }),
          answers: { 202: 'task' },
          doc: whole.doc,
          handle: (context, caller) =>
            submitOperation(context, caller, caller.params.entity, whole, caller.body),
        }),
      ]
    : [],
)

/** Routes of the operations that exist only for VMs. */
const ofOneVm: readonly CloudRoute[] = operations
  .filter(({ forVapp }) => 'none' in forVapp)
  .flatMap((operation) =>
    operation.action
      ? [
          route({
            name: operation.name,
            method: 'POST',
            path: `${at.entity}/${operation.action.path}` as typeof at.entity,
            permission: operation.permission,
            ...(operation.since !== undefined && { since: operation.since }),
            ...(operation.takes && { takes: operation.takes }),
            answers: { 202: 'task' },
            doc: operation.doc,
            handle: (context, caller) =>
              submitVmOperation(context, caller, caller.params.entity, operation, caller.body),
          }),
        ]
      : [],
  )

const whole = (name: string): VappOperation => {
  const found = vappOperations.find((each) => each.name === name)
  if (!found) throw new TypeError(`unknown vApp operation ${name}`)
  return found
}

const deployment: readonly CloudRoute[] = [
  route({
    name: 'deploy',
    method: 'POST',
    path: at.deploy,
    permission: 'vm:power',
    takes: deployParams,
    answers: { 202: 'task' },
    doc: 'Powers it on, optionally with a lease (deploymentLeaseSeconds). If powerOn is false, only the lease is set.',
    async handle(context, caller) {
      const { power, deployment } = caller.body
      const { entity } = caller.params
      const lease = async (tx: Tx) => {
        if (deployment !== undefined) await setLease(tx, subjectOf(entity), { deployment })
      }
      return power
        ? submitOperation(context, caller, entity, whole('powerOn'), null, lease)
        : recordImmediateTask(context, caller, entity, 'deploy', lease)
    },
  }),
  route({
    name: 'undeploy',
    method: 'POST',
    path: at.undeploy,
    permission: 'vm:power',
    takes: undeployParams,
    answers: { 202: 'task' },
    doc: 'Stops it by powerOff, suspend or shutdown, as given in UndeployPowerAction.',
    handle: (context, caller) =>
      submitOperation(context, caller, caller.params.entity, whole(caller.body)),
  }),
]

const [remove] = vappOperations.filter(({ kind }) => kind === 'delete')

export const entities: readonly CloudRoute[] = [
  readRoute({
    name: 'readEntity',
    path: at.entity,
    permission: 'vm:read',
    query: ExplainQuery,
    answers: { 200: 'vApp or vm' },
    doc: 'A vApp or VM, with a link for each action that is possible now; with ?unavailable=true, the other actions with the reason.',
    async read(tx, { entity }) {
      if (entity.kind === 'vm') {
        const { vm: row, hasTasks } = entity
        const tasks = hasTasks ? await openTasks(tx, row.vapp, row.id) : []
        const cards = (await cardsOf(tx, [row])).get(row.id) ?? noCards
        return (caller: Caller, hrefs: Hrefs) => vm(row, { tasks, cards }, caller, hrefs)
      }
      const inside = { vapp: entity.vapp, ...(await wholeVapp(tx, entity.vapp.id)) }
      return (caller: Caller, hrefs: Hrefs) => vapp(inside, caller, hrefs)
    },
    show: ({ base }, requested, document) => ({
      status: 200,
      body: document(explaining(requested), new Hrefs(base)),
    }),
  }),
  readRoute({
    name: 'readSnapshotSection',
    path: at.snapshot,
    permission: 'vm:read',
    answers: { 200: 'snapshotSection' },
    doc: 'The snapshot of a VM, or the newest snapshot among the VMs of a vApp.',
    read: async (tx, { entity }) =>
      entity.kind === 'vm' ? [entity.vm] : vmsOf(tx, entity.vapp.id),
    show({ base }, caller, vms) {
      const { entity } = caller.params
      const hrefs = new Hrefs(base)
      const href = entity.kind === 'vm' ? hrefs.vm(entity.vm.id) : hrefs.vapp(entity.vapp.id)
      return { status: 200, body: snapshotSection(vms, href, caller) }
    },
  }),
  route({
    name: 'delete',
    method: 'DELETE',
    path: at.entity,
    permission: 'vm:edit',
    answers: { 202: 'task' },
    doc: 'Deletes a VM, or a vApp with all its VMs. They must not be running.',
    handle: (context, caller) =>
      submitOperation(context, caller, caller.params.entity, remove as VappOperation),
  }),
  ...actions,
  ...ofOneVm,
  ...deployment,
]
