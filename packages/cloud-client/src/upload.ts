import { Fault, passing } from '@skerry/fault'
import { attribute, childrenByLocalName, localName, type Element } from '@skerry/xml'

import { linkTo, type Cloud } from './cloud.ts'
import type { Waiting } from './tasks.ts'

/** Small enough to be sent again after a break, large enough that answers cost nothing. */
const PART_BYTES = 8 * 1024 ** 2
const AGAIN_MS = 1_000
/** The cloud may be away for so long: what has come is kept for a day. */
const AWAY_MS = 60_000

/** Bytes from there on: as many as are wanted, or as there are. */
export type ReadPart = (from: number, most: number) => Promise<Uint8Array>

/** Sends what an upload was announced for, part by part, from where it is; the item of the catalog that it became. */
export async function sendUpload(
  cloud: Cloud,
  announced: Element,
  read: ReadPart,
  { now, pause, signal, progress }: Waiting,
): Promise<Element> {
  const where = attribute(announced, 'href') ?? ''
  let document = announced
  let seen = now()
  for (;;) {
    signal?.throwIfAborted()
    const { size, come } = fileIn(document)
    progress?.(Math.floor((come / size) * 100))
    const bytes = await read(come, Math.min(PART_BYTES, size - come))
    try {
      const part = { from: come, of: size, bytes }
      const href = linkTo(document, 'upload:default')
      const answer = await cloud.act('PUT', href, { part, ...(signal && { signal }) })
      seen = now()
      if (answer && localName(answer.name) === 'CatalogItem') return answer
      document = answer ?? (await cloud.get(where, signal))
    } catch (error) {
      const passes = error instanceof Fault && passing.has(error.kind)
      if (!passes || now() - seen > AWAY_MS) throw error
      await pause(AGAIN_MS, signal)
      // How much of the part has come, nobody but the cloud knows.
      document = await cloud.get(where, signal).catch(() => document)
    }
  }
}

function fileIn(upload: Element): { readonly size: number; readonly come: number } {
  const [file] = childrenByLocalName(upload, 'File')
  const size = Number(attribute(file, 'size'))
  const come = Number(attribute(file, 'bytesTransferred'))
  if (size > 0 && come >= 0) return { size, come }
  throw new Fault('unavailable', 'the cloud did not say how much of the image has come')
}
