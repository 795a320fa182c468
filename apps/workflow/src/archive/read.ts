import { crc32, inflateRawSync } from 'node:zlib'

import { checkLayout, type ArchiveComplaint, type LaidOut } from './layout.ts'
import { digestOf, readManifest, type ArchivedWorkflow, type EntryName } from './manifest.ts'

export type ReadArchive =
  | { readonly workflow: ArchivedWorkflow }
  | { readonly complaints: readonly ArchiveComplaint[] }

/**
 * Reads an untrusted archive. Memory is bounded by the maximum sizes of the entries, not by the sizes that the archive claims;
 * nothing is written to disk. The text of the definition is not checked here.
 */
export function readArchive(bytes: Buffer): ReadArchive {
  const checked = checkLayout(bytes)
  if ('complaints' in checked) return checked
  let contents: ReadonlyMap<EntryName, Buffer>
  try {
    contents = new Map(checked.entries.map((entry) => [entry.name, unpack(bytes, entry)]))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { complaints: [{ entry: '', message: `cannot unpack: ${message}` }] }
  }
  return assemble(contents)
}

/** The content of an entry, unpacked up to its declared size. Nothing may be hidden after the end of the compressed data. */
function unpack(bytes: Buffer, { name, size, compressed, crc32: sum, data, end }: LaidOut): Buffer {
  const packed = bytes.subarray(data, end)
  const content = compressed ? inflated(name, packed, size) : packed
  if (content.length > size) throw new Error(`${name} is longer than its declared size`)
  if (content.length < size) throw new Error(`${name} is shorter than its declared size`)
  if (crc32(content) !== sum) throw new Error(`${name} is damaged: checksum mismatch`)
  return content
}

function inflated(name: EntryName, packed: Buffer, size: number): Buffer {
  const { buffer, engine } = inflateRawSync(packed, {
    maxOutputLength: size + 1,
    info: true,
  }) as unknown as {
    readonly buffer: Buffer
    readonly engine: { readonly bytesWritten: number }
  }
  if (engine.bytesWritten !== packed.length) throw new Error(`${name} has data after its end`)
  return buffer
}

function assemble(contents: ReadonlyMap<EntryName, Buffer>): ReadArchive {
  const complaints: ArchiveComplaint[] = []
  const say = (entry: EntryName, message: string) => complaints.push({ entry, message })
  const textOf = (name: EntryName): string | undefined => {
    const content = contents.get(name)
    if (content === undefined) return undefined
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
    } catch {
      say(name, 'not valid UTF-8')
      return undefined
    }
  }
  const jsonOf = (name: EntryName): unknown => {
    const text = textOf(name)
    if (text === undefined) return undefined
    try {
      return JSON.parse(text)
    } catch {
      say(name, 'not valid JSON')
      return undefined
    }
  }
  const text = textOf('workflow.yaml')
  const form = jsonOf('input-form.json')
  const manifest = jsonOf('manifest.json')
  for (const name of ['workflow.yaml', 'manifest.json'] as const)
    if (!contents.has(name)) say(name, 'missing entry')
  if (form !== undefined && (typeof form !== 'object' || form === null || Array.isArray(form)))
    say('input-form.json', 'expected a JSON Schema object')
  const read = manifest === undefined ? { wrong: [] } : readManifest(manifest)
  if ('wrong' in read) for (const each of read.wrong) say('manifest.json', each)
  else checkDigests(read.manifest.entries, contents, say)
  if (complaints.length > 0 || text === undefined || 'wrong' in read) return { complaints }
  const { id, name, description, folder, version, tags } = read.manifest
  const about = { id, name, description, folder, version, tags }
  return { workflow: { ...about, text, form: form === undefined ? undefined : (form as object) } }
}

/** Checks that the archive has exactly the entries that the manifest lists, with matching digests. */
function checkDigests(
  named: Readonly<Partial<Record<EntryName, string>>>,
  contents: ReadonlyMap<EntryName, Buffer>,
  say: (entry: EntryName, message: string) => void,
): void {
  for (const name of ['workflow.yaml', 'input-form.json'] as const) {
    const [digest, content] = [named[name], contents.get(name)]
    if (digest === undefined && content === undefined) continue
    if (digest === undefined) say(name, 'not listed in the manifest')
    else if (content === undefined) say(name, 'listed in the manifest, but missing')
    else if (digestOf(content) !== digest)
      say(
        name,
        'digest mismatch with the manifest: changed after the export? Import the definition text instead',
      )
  }
}
