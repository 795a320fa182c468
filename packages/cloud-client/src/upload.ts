import { Fault, retryableKinds } from '@skerry/fault'
import { attribute, childrenByLocalName, localName, type Element } from '@skerry/xml'

import { linkTo, type Cloud } from './cloud.ts'
import type { Waiting } from './tasks.ts'

/** Small enough to resend after a failure, large enough that the number of requests does not matter. */
const PART_BYTES = 8 * 1024 ** 2
const AGAIN_MS = 1_000
/** How long the cloud may be unreachable; it keeps received parts for a day. */
const AWAY_MS = 60_000

/** Reads up to `most` bytes from an offset. */
export type ReadPart = (from: number, most: number) => Promise<Uint8Array>

/** Sends the parts of an announced upload, resuming where it is; returns the new catalog item. */
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
      const passes = error instanceof Fault && retryableKinds.has(error.kind)
      if (!passes || now() - seen > AWAY_MS) throw error
      await pause(AGAIN_MS, signal)
      // Only the cloud knows how much of the part it received.
      document = await cloud.get(where, signal).catch(() => document)
    }
  }
}

function fileIn(upload: Element): { readonly size: number; readonly come: number } {
  const [file] = childrenByLocalName(upload, 'File')
  const size = Number(attribute(file, 'size'))
  const come = Number(attribute(file, 'bytesTransferred'))
  if (size > 0 && come >= 0) return { size, come }
  throw new Fault('unavailable', 'the cloud did not report how much of the image it received')
}
