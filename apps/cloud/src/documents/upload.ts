import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { UploadRow } from '../images/upload-rows.ts'

/** An upload in progress: where to send its bytes, and how many were received. */
export function upload(
  { id, catalog, name, bytes, received, sha256 }: UploadRow,
  { dialect }: Caller,
  hrefs: Hrefs,
): Element {
  const href = hrefs.upload(id)
  return element(
    'Upload',
    { name, type: dialect.media('upload'), href },
    link('upload:default', href),
    link('remove', href),
    link('up', hrefs.catalog(catalog), { type: dialect.media('catalog') }),
    element('File', {
      size: Number(bytes),
      bytesTransferred: Number(received),
      sha256: sha256 ?? undefined,
    }),
  )
}
