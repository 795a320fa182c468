import type { TaskId } from '@skerry/vm'

import { at } from '../addresses.ts'
import { metadata, metadataValue } from '../documents/metadata.ts'
import { task as taskDocument } from '../documents/task.ts'
import type { Asker } from '../http/asker.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/things.ts'
import { checkKey, metadataParams, metadataValueParams } from '../params/metadata.ts'
import { renameParams } from '../params/rename.ts'
import { route } from '../route.ts'
import { addDoneTask, type Subject } from '../store/done-task.ts'
import { dropMetadata, mergeMetadata, metadataAt, metadataOf } from '../store/metadata.ts'
import { rename } from '../store/rename.ts'
import { submit } from '../submit.ts'
import type { RequestWorld, Tx } from '../world.ts'
import type { WrittenOperation } from '../written-operations.ts'

const subjectOf = (entity: Entity): Subject =>
  entity.is === 'vm'
    ? { org: entity.org, vapp: entity.vm.vapp, vm: entity.vm.id }
    : { org: entity.org, vapp: entity.vapp.id, vm: null }

const hrefTo = (hrefs: Hrefs, entity: Entity): string =>
  entity.is === 'vm' ? hrefs.vm(entity.vm.id) : hrefs.vapp(entity.vapp.id)

/** Writes it down; the task that comes back has ended. */
async function write(
  world: RequestWorld,
  asker: Asker,
  entity: Entity,
  operation: WrittenOperation,
  work: (tx: Tx, subject: Subject) => Promise<void>,
) {
  const subject = subjectOf(entity)
  const task = await submit(world, asker, async (tx, id: TaskId) => {
    await work(tx, subject)
    const owner = asker.who.user
    return { task: await addDoneTask(tx, subject, { operation, owner, id }), vms: [] }
  })
  const hrefs = new Hrefs(world.base)
  const headers = { location: hrefs.task(task.id) }
  return { status: 202, headers, body: taskDocument(task, asker, hrefs) }
}

export const notes = [
  route({
    name: 'rename',
    method: 'PUT',
    path: at.entity,
    permission: 'vm:edit',
    takes: renameParams,
    answers: { 202: 'task' },
    doc: 'Gives a vApp or a VM another name.',
    handle: (world, asker) =>
      write(world, asker, asker.params.entity, 'rename', (tx, subject) =>
        rename(tx, subject, asker.body.name),
      ),
  }),
  route({
    name: 'readMetadata',
    method: 'GET',
    path: at.metadata,
    permission: 'vm:read',
    answers: { 200: 'metadata' },
    doc: 'What people wrote down about a vApp or VM.',
    async handle(world, asker) {
      const { entity } = asker.params
      const rows = await world.as(asker.who, (tx) => metadataOf(tx, subjectOf(entity)))
      const href = hrefTo(new Hrefs(world.base), entity)
      return { status: 200, body: metadata(rows, href, asker) }
    },
  }),
  route({
    name: 'mergeMetadata',
    method: 'POST',
    path: at.metadata,
    permission: 'vm:edit',
    takes: metadataParams,
    answers: { 202: 'task' },
    doc: 'Writes down more: keys that are there get the new value, all others stay.',
    handle: (world, asker) =>
      write(world, asker, asker.params.entity, 'updateMetadata', (tx, subject) =>
        mergeMetadata(tx, subject, asker.body),
      ),
  }),
  route({
    name: 'readMetadataValue',
    method: 'GET',
    path: at.metadataKey,
    permission: 'vm:read',
    answers: { 200: 'metadata.value' },
    doc: 'The value of one key.',
    async handle(world, asker) {
      const { entity, key } = asker.params
      const row = await world.as(asker.who, (tx) => metadataAt(tx, subjectOf(entity), key))
      const href = hrefTo(new Hrefs(world.base), entity)
      return { status: 200, body: metadataValue(row, href, asker) }
    },
  }),
  route({
    name: 'writeMetadataValue',
    method: 'PUT',
    path: at.metadataKey,
    permission: 'vm:edit',
    takes: metadataValueParams,
    answers: { 202: 'task' },
    doc: 'Writes down the value of one key.',
    handle(world, asker) {
      const { entity, key } = asker.params
      return write(world, asker, entity, 'updateMetadata', (tx, subject) =>
        mergeMetadata(tx, subject, [{ key: checkKey(key), ...asker.body }]),
      )
    },
  }),
  route({
    name: 'deleteMetadataValue',
    method: 'DELETE',
    path: at.metadataKey,
    permission: 'vm:edit',
    answers: { 202: 'task' },
    doc: 'Forgets one key.',
    handle(world, asker) {
      const { entity, key } = asker.params
      return write(world, asker, entity, 'updateMetadata', (tx, subject) =>
        dropMetadata(tx, subject, key),
      )
    },
  }),
]
