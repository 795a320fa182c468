import { crc32, inflateRawSync } from 'node:zlib'

import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl'

import { checkLayout, type ArchiveComplaint, type LaidOut } from './layout.ts'
import { digestOf, readManifest, type ArchivedWorkflow, type EntryName } from './manifest.ts'

export type ReadArchive =
  | { readonly workflow: ArchivedWorkflow }
  | { readonly complaints: readonly ArchiveComplaint[] }

/**
 * An archive from anybody. What it takes in memory is bounded by what its entries may be, whatever they say of themselves; nothing is
 * written anywhere. The definition's text is not looked at here.
 */
export async function readArchive(bytes: Buffer): Promise<ReadArchive> {
  const checked = checkLayout(bytes)
  if ('complaints' in checked) return checked
  const contents = new Map<EntryName, Buffer>()
  try {
    await unpack(bytes, checked.entries, contents)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { complaints: [{ entry: '', message: `it can not be unpacked: ${message}` }] }
  }
  return assemble(contents)
}

/** One entry after the other, each no longer than it says. */
async function unpack(
  bytes: Buffer,
  expected: readonly LaidOut[],
  contents: Map<EntryName, Buffer>,
): Promise<void> {
  const zip = await fromBufferPromise(bytes, { strictFileNames: true, validateEntrySizes: true })
  const left = [...expected]
  for await (const entry of zip.eachEntry()) {
    const plan = left.shift()
    if (plan === undefined || entry.fileName !== plan.name)
      throw new Error('entries that are not in the directory')
    checkStream(bytes, plan)
    contents.set(plan.name, await readEntry(zip, entry, plan))
  }
}

/** What is compressed ends where the entry ends: nothing can hide behind it. */
function checkStream(bytes: Buffer, { name, size, compressed, data, end }: LaidOut): void {
  if (!compressed) return
  const packed = bytes.subarray(data, end)
  const { engine } = inflateRawSync(packed, {
    maxOutputLength: size + 1,
    info: true,
  }) as unknown as {
    readonly engine: { readonly bytesWritten: number }
  }
  if (engine.bytesWritten !== packed.length) throw new Error(`${name} has something behind its end`)
}

async function readEntry(
  zip: ZipFile,
  entry: Entry,
  { name, size, crc32: sum }: LaidOut,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    length += (chunk as Buffer).length
    if (length > size) throw new Error(`${name} is longer than it says`)
    chunks.push(chunk as Buffer)
  }
  const content = Buffer.concat(chunks)
  if (length !== size) throw new Error(`${name} is shorter than it says`)
  if (crc32(content) !== sum) throw new Error(`${name} is damaged: its checksum differs`)
  return content
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
      say(name, 'this is no UTF-8')
      return undefined
    }
  }
  const jsonOf = (name: EntryName): unknown => {
    const text = textOf(name)
    if (text === undefined) return undefined
    try {
      return JSON.parse(text)
    } catch {
      say(name, 'this is no JSON')
      return undefined
    }
  }
  const text = textOf('workflow.yaml')
  const form = jsonOf('input-form.json')
  const manifest = jsonOf('manifest.json')
  for (const name of ['workflow.yaml', 'manifest.json'] as const)
    if (!contents.has(name)) say(name, 'this is missing')
  if (form !== undefined && (typeof form !== 'object' || form === null || Array.isArray(form)))
    say('input-form.json', 'expected a JSON Schema: an object')
  const read = manifest === undefined ? { wrong: [] } : readManifest(manifest)
  if ('wrong' in read) for (const each of read.wrong) say('manifest.json', each)
  else checkDigests(read.manifest.entries, contents, say)
  if (complaints.length > 0 || text === undefined || 'wrong' in read) return { complaints }
  const { id, name, description, folder, version, tags } = read.manifest
  const about = { id, name, description, folder, version, tags }
  return { workflow: { ...about, text, form: form === undefined ? undefined : (form as object) } }
}

/** What the manifest names is there, and nothing else, and as it was when it was written. */
function checkDigests(
  named: Readonly<Partial<Record<EntryName, string>>>,
  contents: ReadonlyMap<EntryName, Buffer>,
  say: (entry: EntryName, message: string) => void,
): void {
  for (const name of ['workflow.yaml', 'input-form.json'] as const) {
    const [digest, content] = [named[name], contents.get(name)]
    if (digest === undefined && content === undefined) continue
    if (digest === undefined) say(name, 'the manifest does not name it')
    else if (content === undefined) say(name, 'the manifest names it, and it is missing')
    else if (digestOf(content) !== digest)
      say(
        name,
        'it is not as the manifest says: changed after the export? Import the text itself instead',
      )
  }
}
