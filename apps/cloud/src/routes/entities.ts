import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { snapshotSection } from '../documents/sections.ts'
import { task as taskDocument } from '../documents/task.ts'
import { vapp } from '../documents/vapp.ts'
import { vm } from '../documents/vm.ts'
import type { Asker } from '../http/asker.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/things.ts'
import type { Operation } from '../operation.ts'
import { operations } from '../operations.ts'
import { deployParams, undeployParams } from '../params/deploy.ts'
import { route, type CloudRoute } from '../route.ts'
import { openTasks } from '../store/find-task.ts'
import { readLease, setLease } from '../store/leases.ts'
import type { Ask, Task } from '../store/queue.ts'
import { requireQuota } from '../store/quotas.ts'
import { submitTask, submitTogether } from '../store/submit-task.ts'
import { vmsOf } from '../store/vapps.ts'
import { submit } from '../submit.ts'
import { vappOperations, type VappOperation } from '../vapp-operations.ts'
import type { RequestWorld, Tx } from '../world.ts'
import { subjectOf, write } from '../write-down.ts'

/** Those after which more may run than before. */
const starts = new Set(['powerOn', 'revertToCurrentSnapshot'])

/** Of a VM one task, of a vApp one with a part for each VM. */
async function enter(tx: Tx, entity: Entity, whole: VappOperation, asked: Ask) {
  if (entity.is === 'vapp') return submitTogether(tx, whole, { ...asked, vapp: entity.vapp.id })
  const { id: vm, name } = entity.vm
  const operation = whole.forVm(entity.vm)
  if (!operation) throw new Fault('conflict', `VM ${name} has nothing for ${whole.name}`)
  return { task: await submitTask(tx, operation, { ...asked, vm }), vms: [vm] }
}

const accepted = ({ base }: RequestWorld, asker: Asker, task: Task) => {
  const hrefs = new Hrefs(base)
  const headers = { location: hrefs.task(task.id) }
  return { status: 202, headers, body: taskDocument(task, asker, hrefs) }
}

async function ask(
  world: RequestWorld,
  asker: Asker,
  entity: Entity,
  whole: VappOperation,
  input: unknown = null,
  first?: (tx: Tx) => Promise<void>,
) {
  const owner = asker.who.user
  const task = await submit(world, asker, async (tx, id) => {
    await first?.(tx)
    const submitted = await enter(tx, entity, whole, { owner, id, input })
    if (starts.has(whole.name)) await requireQuota(tx, entity.org, 'start')
    return submitted
  })
  return accepted(world, asker, task)
}

/** What only a VM can be asked for. */
export async function askVm(
  world: RequestWorld,
  asker: Asker,
  entity: Entity,
  operation: Operation,
  input: unknown = null,
) {
  if (entity.is !== 'vm') {
    throw new Fault('invalid', `${operation.name} is for VMs, not for vApps`, {
      hint: 'ask it of each VM in its Children',
    })
  }
  const { id: vm } = entity.vm
  operation.check?.(entity.vm, input)
  const task = await submit(world, asker, async (tx, id) => {
    const owner = asker.who.user
    return { task: await submitTask(tx, operation, { vm, owner, id, input }), vms: [vm] }
  })
  return accepted(world, asker, task)
}

/** POST {entity}/power/action/powerOn and its like: one row for each operation that has an address. */
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
          handle: (world, asker) => ask(world, asker, asker.params.entity, whole, asker.body),
        }),
      ]
    : [],
)

/** Those that only a VM can be asked for. */
const ofOneVm: readonly CloudRoute[] = operations
  .filter(({ action }) => !vappOperations.some((each) => each.action?.path === action?.path))
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
            handle: (world, asker) =>
              askVm(world, asker, asker.params.entity, operation, asker.body),
          }),
        ]
      : [],
  )

const whole = (name: string): VappOperation => {
  const found = vappOperations.find((each) => each.name === name)
  if (!found) throw new TypeError(`a vApp has no operation ${name}`)
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
    doc: 'Starts it, for deploymentLeaseSeconds if that is told, unless powerOn is false: then there is nothing to do, for what is off takes part in nothing here.',
    async handle(world, asker) {
      const { power, deployment } = asker.body
      const { entity } = asker.params
      const lease = async (tx: Tx) => {
        if (deployment !== undefined) await setLease(tx, subjectOf(entity), { deployment })
      }
      return power
        ? ask(world, asker, entity, whole('powerOn'), null, lease)
        : write(world, asker, entity, 'deploy', lease)
    },
  }),
  route({
    name: 'undeploy',
    method: 'POST',
    path: at.undeploy,
    permission: 'vm:power',
    takes: undeployParams,
    answers: { 202: 'task' },
    doc: 'Stops it: by powerOff, suspend or shutdown, as UndeployPowerAction says.',
    handle: (world, asker) => ask(world, asker, asker.params.entity, whole(asker.body)),
  }),
]

const [remove] = vappOperations.filter(({ name }) => name === 'delete')

export const entities: readonly CloudRoute[] = [
  route({
    name: 'readEntity',
    method: 'GET',
    path: at.entity,
    permission: 'vm:read',
    answers: { 200: 'vApp' },
    doc: 'The vApp or VM, with a link for everything that may be done to it now.',
    async handle(world, asker) {
      const { entity } = asker.params
      const hrefs = new Hrefs(world.base)
      const body = await world.as(asker.who, async (tx) =>
        entity.is === 'vm'
          ? vm(entity.vm, await openTasks(tx, entity.vm.vapp, entity.vm.id), asker, hrefs)
          : vapp(
              {
                vapp: entity.vapp,
                vms: await vmsOf(tx, entity.vapp.id),
                tasks: await openTasks(tx, entity.vapp.id),
                lease: await readLease(tx, entity.vapp.id),
              },
              asker,
              hrefs,
            ),
      )
      return { status: 200, body }
    },
  }),
  route({
    name: 'readSnapshotSection',
    method: 'GET',
    path: at.snapshot,
    permission: 'vm:read',
    since: '5.1',
    answers: { 200: 'snapshotSection' },
    doc: 'The snapshot that a VM has, or the newest of those that the VMs of a vApp have.',
    async handle(world, asker) {
      const { entity } = asker.params
      const hrefs = new Hrefs(world.base)
      const vms =
        entity.is === 'vm'
          ? [entity.vm]
          : await world.as(asker.who, (tx) => vmsOf(tx, entity.vapp.id))
      const href = entity.is === 'vm' ? hrefs.vm(entity.vm.id) : hrefs.vapp(entity.vapp.id)
      return { status: 200, body: snapshotSection(vms, href, asker) }
    },
  }),
  route({
    name: 'delete',
    method: 'DELETE',
    path: at.entity,
    permission: 'vm:edit',
    answers: { 202: 'task' },
    doc: 'Deletes a VM, or a vApp with all its VMs. They must not be running.',
    handle: (world, asker) => ask(world, asker, asker.params.entity, remove as VappOperation),
  }),
  ...actions,
  ...ofOneVm,
  ...deployment,
]
