import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { UploadRow } from '../store/uploads.ts'

/** An image on its way: where its bytes go, and how many have come. */
export function upload(
  { id, catalog, name, bytes, received, sha256 }: UploadRow,
  { dialect }: Asker,
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
      ...{ size: Number(bytes), bytesTransferred: Number(received) },
      sha256: sha256 ?? undefined,
    }),
  )
}
