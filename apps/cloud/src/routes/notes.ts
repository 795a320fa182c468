import { at } from '../addresses.ts'
import { metadata, metadataValue } from '../documents/metadata.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/things.ts'
import { checkKey, metadataParams, metadataValueParams } from '../params/metadata.ts'
import { renameParams } from '../params/rename.ts'
import { route } from '../route.ts'
import { dropMetadata, mergeMetadata, metadataAt, metadataOf } from '../store/metadata.ts'
import { rename } from '../store/rename.ts'
import { subjectOf, write } from '../write-down.ts'

const hrefTo = (hrefs: Hrefs, entity: Entity): string =>
  entity.is === 'vm' ? hrefs.vm(entity.vm.id) : hrefs.vapp(entity.vapp.id)

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
      const row = await world.as(asker.who, (tx) =>
        metadataAt(tx, subjectOf(entity), checkKey(key)),
      )
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
        dropMetadata(tx, subject, checkKey(key)),
      )
    },
  }),
]
