import { Fault } from '@skerry/fault'

import type { Caller } from '../auth/caller.ts'
import { isSamePrincipal, readPrincipals } from '../auth/session-alive.ts'
import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { catalogItem } from '../documents/catalog.ts'
import { upload } from '../documents/upload.ts'
import { may } from '../domain/authorize.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../http/route.ts'
import { addUpload, findUpload, type UploadRow } from '../images/upload-rows.ts'
import { sentBytes, uploadParams } from '../params/upload.ts'
import { withAccess } from '../sharing/shared-access.ts'
import { requireSound } from '../tasks/submit.ts'
import { findCatalogItem } from '../tenants/catalogs.ts'
import { findTemplate } from '../tenants/orgs.ts'
import { requireQuota } from '../tenants/quotas.ts'

/** Interval for checking that the sender is still logged in, with the same rights. */
const LOOK_AGAIN_MS = 60_000

export const uploading = [
  route({
    name: 'upload',
    method: 'POST',
    path: at.upload,
    permission: 'vm:edit',
    takes: uploadParams,
    answers: { 201: 'upload' },
    doc: 'Announces an image for a template. The response says where to send its bytes. An upload that receives nothing for a day is deleted.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      await context.uploads.clear()
      await context.uploads.requireRoom(body.bytes)
      const row = await context.as(principal, async (tx) => {
        await requireSound(tx)
        const made = await addUpload(tx, params.catalog, body)
        await requireQuota(tx, params.catalog.org, 'store')
        return made
      })
      const hrefs = new Hrefs(context.base)
      const headers = { location: hrefs.upload(row.id) }
      return { status: 201, headers, body: upload(row, caller, hrefs) }
    },
  }),
  route({
    name: 'readUpload',
    method: 'GET',
    path: at.transfer,
    permission: 'vm:edit',
    answers: { 200: 'upload' },
    doc: 'How many bytes of an image were received: sending continues at that offset.',
    async handle({ base }, caller) {
      return { status: 200, body: upload(caller.params.upload, caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'sendUpload',
    method: 'PUT',
    path: at.transfer,
    permission: 'vm:edit',
    takes: sentBytes,
    answers: { 200: 'upload', 201: 'catalogItem' },
    doc: 'Sends the bytes of an image, or a part of them by Content-Range. After the last byte the image is checked against its SHA-256, must be a qcow2 without a backing file, and becomes a template: 201 with the catalog item.',
    async handle(context, caller) {
      const { body, params, principal } = caller
      const { bytes, ...range } = body(Number(params.upload.bytes))
      const sent = { ...range, bytes: whileIn(context, caller, params.upload, bytes) }
      const { item } = await context.uploads.take(params.upload, sent)
      const hrefs = new Hrefs(context.base)
      const found = await context.as(principal, async (tx) => {
        const row = item === undefined ? undefined : await findCatalogItem(tx, item)
        const template = row && (await findTemplate(tx, row.template))
        return row && template
          ? { is: 'item' as const, row, template }
          : { is: 'upload' as const, row: await findUpload(tx, params.upload.id) }
      })
      if (found.is === 'item') {
        const headers = { location: hrefs.catalogItem(found.row.id) }
        return { status: 201, headers, body: catalogItem(found.row, found.template, caller, hrefs) }
      }
      if (!found.row) throw new Fault('not-found', 'the upload was deleted meanwhile')
      return { status: 200, body: upload(found.row, caller, hrefs) }
    },
  }),
  route({
    name: 'deleteUpload',
    method: 'DELETE',
    path: at.transfer,
    permission: 'vm:edit',
    answers: { 204: 'nothing' },
    doc: 'Deletes an upload and its received bytes.',
    async handle(context, caller) {
      await context.uploads.drop(caller.params.upload)
      return { status: 204 }
    },
  }),
]

/** Passes the bytes on until the session ends, or the right to the catalog. A transfer counts as activity of the session. */
async function* whileIn(
  context: RequestContext,
  { principal, token }: Caller,
  { org, catalog }: UploadRow,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const { clock } = context
  let looked = clock.now().getTime()
  for await (const chunk of bytes) {
    if (Math.abs(clock.now().getTime() - looked) >= LOOK_AGAIN_MS) {
      looked = clock.now().getTime()
      const isSame = await context.as(principal, async (tx) => {
        const now = await withAccess(tx, principal, org, { catalog })
        const known = await readPrincipals(tx, [token])
        return isSamePrincipal(principal, known.get(token)) && may(now, 'vm:edit')
      })
      if (!isSame) {
        throw new Fault(
          'unauthenticated',
          'the session has ended, or its rights have changed: the bytes received so far are kept',
          {
            hint: 'log in and continue: GET this address returns the number of received bytes',
          },
        )
      }
    }
    yield chunk
  }
}
