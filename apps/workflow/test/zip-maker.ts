import { crc32, deflateRawSync } from 'node:zlib'

/** Makes invalid zip archives: each field of each header can be overridden. */
export interface MadeEntry {
  readonly name: string | Buffer
  readonly content: string | Buffer
  readonly method?: number
  /** Used instead of the compressed content. */
  readonly data?: Buffer
  readonly flags?: number
  readonly system?: number
  readonly attributes?: number
  readonly extra?: Buffer
  readonly localExtra?: Buffer
  readonly comment?: string
  readonly disk?: number
  /** Overrides for the directory, the local header or both. */
  readonly central?: Partial<Said>
  readonly local?: Partial<Said> & {
    readonly name?: string
    readonly flags?: number
    readonly method?: number
  }
  readonly both?: Partial<Said>
  readonly offset?: number
}
interface Said {
  readonly crc32: number
  readonly packed: number
  readonly size: number
}
export interface MadeArchive {
  readonly prefix?: Buffer
  readonly gap?: Buffer
  readonly beforeEnd?: Buffer
  readonly comment?: Buffer
  readonly suffix?: Buffer
  readonly end?: Partial<
    Record<'disk' | 'first' | 'here' | 'count' | 'size' | 'directory' | 'commentLength', number>
  >
  /** This entry's directory header points to the same place as that one's. */
  readonly sameOffset?: boolean
}

export const link = 0o120777 * 0x10000

export function makeZip(entries: readonly MadeEntry[], how: MadeArchive = {}): Buffer {
  const parts: Buffer[] = [how.prefix ?? Buffer.alloc(0)]
  const directory: Buffer[] = []
  let at = parts[0]!.length
  const firstAt = at
  for (const entry of entries) {
    const content = Buffer.from(entry.content)
    const data = entry.data ?? (entry.method === 8 ? deflateRawSync(content) : content)
    const said = { crc32: crc32(content), packed: data.length, size: content.length, ...entry.both }
    const local = localHeader(entry, { ...said, ...entry.local })
    const offset = entry.offset ?? (how.sameOffset ? firstAt : at)
    directory.push(centralHeader(entry, { ...said, ...entry.central }, offset))
    parts.push(local, data)
    at += local.length + data.length
  }
  if (how.gap) parts.push(how.gap)
  const start = at + (how.gap?.length ?? 0)
  const all = Buffer.concat(directory)
  parts.push(all, how.beforeEnd ?? Buffer.alloc(0))
  const size = all.length + (how.beforeEnd?.length ?? 0)
  const count = entries.length
  const end = {
    disk: 0,
    first: 0,
    here: count,
    count,
    size,
    directory: start,
    commentLength: how.comment?.length ?? 0,
    ...how.end,
  }
  const last = Buffer.alloc(22)
  last.writeUInt32LE(0x06054b50, 0)
  last.writeUInt16LE(end.disk, 4)
  last.writeUInt16LE(end.first, 6)
  last.writeUInt16LE(end.here, 8)
  last.writeUInt16LE(end.count, 10)
  last.writeUInt32LE(end.size, 12)
  last.writeUInt32LE(end.directory, 16)
  last.writeUInt16LE(end.commentLength, 20)
  return Buffer.concat([
    ...parts,
    last,
    how.comment ?? Buffer.alloc(0),
    how.suffix ?? Buffer.alloc(0),
  ])
}

function localHeader(entry: MadeEntry, said: Said): Buffer {
  const name = Buffer.from(entry.local?.name ?? entry.name)
  const extra = entry.localExtra ?? Buffer.alloc(0)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  header.writeUInt16LE(entry.local?.flags ?? entry.flags ?? 0x0800, 6)
  header.writeUInt16LE(entry.local?.method ?? entry.method ?? 0, 8)
  header.writeUInt32LE(0x00216000, 10)
  header.writeUInt32LE(said.crc32, 14)
  header.writeUInt32LE(said.packed, 18)
  header.writeUInt32LE(said.size, 22)
  header.writeUInt16LE(name.length, 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, name, extra])
}

function centralHeader(entry: MadeEntry, said: Said, offset: number): Buffer {
  const name = Buffer.from(entry.name)
  const extra = entry.extra ?? Buffer.alloc(0)
  const comment = Buffer.from(entry.comment ?? '')
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(((entry.system ?? 3) << 8) | 20, 4)
  header.writeUInt16LE(20, 6)
  header.writeUInt16LE(entry.flags ?? 0x0800, 8)
  header.writeUInt16LE(entry.method ?? 0, 10)
  header.writeUInt32LE(0x00216000, 12)
  header.writeUInt32LE(said.crc32, 16)
  header.writeUInt32LE(said.packed, 20)
  header.writeUInt32LE(said.size, 24)
  header.writeUInt16LE(name.length, 28)
  header.writeUInt16LE(extra.length, 30)
  header.writeUInt16LE(comment.length, 32)
  header.writeUInt16LE(entry.disk ?? 0, 34)
  header.writeUInt32LE(entry.attributes ?? 0o100644 * 0x10000, 38)
  header.writeUInt32LE(offset, 42)
  return Buffer.concat([header, name, extra, comment])
}
