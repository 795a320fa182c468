import { at } from '../dialect/addresses.ts'
import { metadata, metadataValue } from '../documents/metadata.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/path-resources.ts'
import { readRoute, route } from '../http/route.ts'
import { dropMetadata, mergeMetadata, metadataAt, metadataOf } from '../inventory/metadata.ts'
import { checkKey, metadataParams, metadataValueParams } from '../params/metadata.ts'
import { subjectOf, recordImmediateTask } from '../responses/immediate-task.ts'

const hrefTo = (hrefs: Hrefs, entity: Entity): string =>
  entity.kind === 'vm' ? hrefs.vm(entity.vm.id) : hrefs.vapp(entity.vapp.id)

export const metadataRoutes = [
  readRoute({
    name: 'readMetadata',
    path: at.metadata,
    permission: 'vm:read',
    answers: { 200: 'metadata' },
    doc: 'The metadata of a vApp or VM.',
    read: (tx, { entity }) => metadataOf(tx, subjectOf(entity)),
    show({ base }, caller, rows) {
      const href = hrefTo(new Hrefs(base), caller.params.entity)
      return { status: 200, body: metadata(rows, href, caller) }
    },
  }),
  route({
    name: 'mergeMetadata',
    method: 'POST',
    path: at.metadata,
    permission: 'vm:edit',
    takes: metadataParams,
    answers: { 202: 'task' },
    doc: 'Adds metadata: existing keys get the new value, all others stay.',
    handle: (context, caller) =>
      recordImmediateTask(context, caller, caller.params.entity, 'updateMetadata', (tx, subject) =>
        mergeMetadata(tx, subject, caller.body),
      ),
  }),
  readRoute({
    name: 'readMetadataValue',
    path: at.metadataKey,
    permission: 'vm:read',
    answers: { 200: 'metadata.value' },
    doc: 'The value of one key.',
    read: async (tx, { entity, key }) => metadataAt(tx, subjectOf(entity), checkKey(key)),
    show({ base }, caller, row) {
      const href = hrefTo(new Hrefs(base), caller.params.entity)
      return { status: 200, body: metadataValue(row, href, caller) }
    },
  }),
  route({
    name: 'writeMetadataValue',
    method: 'PUT',
    path: at.metadataKey,
    permission: 'vm:edit',
    takes: metadataValueParams,
    answers: { 202: 'task' },
    doc: 'Sets the value of one key.',
    handle(context, caller) {
      const { entity, key } = caller.params
      return recordImmediateTask(context, caller, entity, 'updateMetadata', (tx, subject) =>
        mergeMetadata(tx, subject, [{ key: checkKey(key), ...caller.body }]),
      )
    },
  }),
  route({
    name: 'deleteMetadataValue',
    method: 'DELETE',
    path: at.metadataKey,
    permission: 'vm:edit',
    answers: { 202: 'task' },
    doc: 'Deletes one key.',
    handle(context, caller) {
      const { entity, key } = caller.params
      return recordImmediateTask(context, caller, entity, 'updateMetadata', (tx, subject) =>
        dropMetadata(tx, subject, checkKey(key)),
      )
    },
  }),
]
