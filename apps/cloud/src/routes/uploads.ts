import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { catalogItem } from '../documents/catalog.ts'
import { upload } from '../documents/upload.ts'
import type { Asker } from '../http/asker.ts'
import { Hrefs } from '../http/links.ts'
import { sentBytes, uploadParams } from '../params/upload.ts'
import { route } from '../route.ts'
import { findCatalogItem } from '../store/catalogs.ts'
import { findTemplate } from '../store/orgs.ts'
import { requireQuota } from '../store/quotas.ts'
import { isStillIn } from '../store/still-in.ts'
import { addUpload, findUpload } from '../store/uploads.ts'
import { requireSound } from '../submit.ts'
import type { RequestWorld } from '../world.ts'

/** Whether whoever sends is still logged in. */
const LOOK_AGAIN_MS = 60_000

export const uploading = [
  route({
    name: 'upload',
    method: 'POST',
    path: at.upload,
    permission: 'vm:edit',
    takes: uploadParams,
    answers: { 201: 'upload' },
    doc: 'Announces an image of a template: the document says where its bytes are to be sent. One that nobody sends to for a day is forgotten.',
    async handle(world, asker) {
      const { who, body, params } = asker
      await world.uploads.clear()
      const row = await world.as(who, async (tx) => {
        await requireSound(tx)
        const made = await addUpload(tx, params.catalog, body)
        await requireQuota(tx, params.catalog.org, 'store')
        return made
      })
      const hrefs = new Hrefs(world.base)
      const headers = { location: hrefs.upload(row.id) }
      return { status: 201, headers, body: upload(row, asker, hrefs) }
    },
  }),
  route({
    name: 'readUpload',
    method: 'GET',
    path: at.transfer,
    permission: 'vm:edit',
    answers: { 200: 'upload' },
    doc: 'How much of an image has come: what is sent next begins there.',
    async handle({ base }, asker) {
      return { status: 200, body: upload(asker.params.upload, asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'sendUpload',
    method: 'PUT',
    path: at.transfer,
    permission: 'vm:edit',
    takes: sentBytes,
    answers: { 200: 'upload', 201: 'catalogItem' },
    doc: 'The bytes of an image, or a part of them by Content-Range. With the last of them it is held to its SHA-256, must be a qcow2 that stands on no other file, and becomes a template: 201 with the catalog’s item.',
    async handle(world, asker) {
      const { body, params, who } = asker
      const { bytes, ...range } = body(Number(params.upload.bytes))
      const sent = { ...range, bytes: whileIn(world, asker, bytes) }
      const { item } = await world.uploads.take(params.upload, sent)
      const hrefs = new Hrefs(world.base)
      const found = await world.as(who, async (tx) => {
        const row = item === undefined ? undefined : await findCatalogItem(tx, item)
        const template = row && (await findTemplate(tx, row.template))
        return row && template
          ? { is: 'item' as const, row, template }
          : { is: 'upload' as const, row: await findUpload(tx, params.upload.id) }
      })
      if (found.is === 'item') {
        const headers = { location: hrefs.catalogItem(found.row.id) }
        return { status: 201, headers, body: catalogItem(found.row, found.template, asker, hrefs) }
      }
      if (!found.row) throw new Fault('not-found', 'this upload was taken back meanwhile')
      return { status: 200, body: upload(found.row, asker, hrefs) }
    },
  }),
  route({
    name: 'deleteUpload',
    method: 'DELETE',
    path: at.transfer,
    permission: 'vm:edit',
    answers: { 204: 'nothing' },
    doc: 'Takes an upload back, with what has come of it.',
    async handle(world, asker) {
      await world.uploads.drop(asker.params.upload)
      return { status: 204 }
    },
  }),
]

/** A transfer counts as activity, and ends with the session. */
async function* whileIn(
  world: RequestWorld,
  { who, token }: Asker,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const { clock } = world
  let looked = clock.now().getTime()
  for await (const chunk of bytes) {
    if (Math.abs(clock.now().getTime() - looked) >= LOOK_AGAIN_MS) {
      looked = clock.now().getTime()
      if (!(await world.as(who, (tx) => isStillIn(tx, token)))) {
        throw new Fault('unauthenticated', 'the session has ended: what came until now is kept', {
          hint: 'log in, and go on from where it is: GET this address says where',
        })
      }
    }
    yield chunk
  }
}
