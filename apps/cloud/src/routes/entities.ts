import { at } from '../addresses.ts'
import { task as taskDocument } from '../documents/task.ts'
import { vapp } from '../documents/vapp.ts'
import { vm } from '../documents/vm.ts'
import type { Asker } from '../http/asker.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/things.ts'
import { operations } from '../operations.ts'
import { route, type CloudRoute } from '../route.ts'
import { openTasks } from '../store/find-task.ts'
import { submitTask, submitTogether } from '../store/submit-task.ts'
import { vmsOf } from '../store/vapps.ts'
import { submit } from '../submit.ts'
import { vappOperations, type VappOperation } from '../vapp-operations.ts'
import type { RequestWorld } from '../world.ts'

/** Asks for the operation: of a VM as one task, of a vApp as one with a part for each VM. */
async function ask(world: RequestWorld, asker: Asker, entity: Entity, whole: VappOperation) {
  const owner = asker.who.user
  const task = await submit(world, asker, async (tx, id) => {
    if (entity.is === 'vapp') {
      return submitTogether(tx, whole, { vapp: entity.vapp.id, owner, id })
    }
    const operation = operations.find(({ name }) => name === whole.name)
    if (!operation) throw new TypeError(`${whole.name} is for vApps only`)
    const vmId = entity.vm.id
    return { task: await submitTask(tx, operation, { vm: vmId, owner, id }), vms: [vmId] }
  })
  const hrefs = new Hrefs(world.base)
  const headers = { location: hrefs.task(task.id) }
  return { status: 202, headers, body: taskDocument(task, asker, hrefs) }
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
          answers: { 202: 'task' },
          doc: whole.doc,
          handle: (world, asker) => ask(world, asker, asker.params.entity, whole),
        }),
      ]
    : [],
)

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
              },
              asker,
              hrefs,
            ),
      )
      return { status: 200, body }
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
]
