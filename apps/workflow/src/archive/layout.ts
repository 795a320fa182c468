import { archiveEntries, ARCHIVE_BYTES, type EntryName } from './manifest.ts'

/** A problem of an archive and the entry that has it; '' is the archive itself. */
export interface ArchiveComplaint {
  readonly entry: string
  readonly message: string
}

/** An entry whose two headers agree. */
export interface LaidOut {
  readonly name: EntryName
  readonly crc32: number
  readonly size: number
  readonly compressed: boolean
  /** Offsets of the first byte of its data and of the byte after the last. */
  readonly data: number
  readonly end: number
}

/** More than text ever compresses; a zip bomb starts at 1,000. */
const RATIO = 200
const END = 22
const CENTRAL = 46
const LOCAL = 30

class Wrong extends Error {
  readonly entry: string
  constructor(entry: string, message: string) {
    super(message)
    this.entry = entry
  }
}

/**
 * Accounts for every byte of the archive before anything is unpacked: local headers without gaps from the first byte on, then the
 * directory, then the end record, all consistent. So two readers cannot interpret it differently.
 */
export function checkLayout(
  bytes: Buffer,
): { readonly entries: readonly LaidOut[] } | { readonly complaints: readonly ArchiveComplaint[] } {
  try {
    return { entries: layout(bytes) }
  } catch (error) {
    if (error instanceof Wrong)
      return { complaints: [{ entry: error.entry, message: error.message }] }
    if (error instanceof RangeError)
      return {
        complaints: [{ entry: '', message: 'a header points past the end of the archive' }],
      }
    throw error
  }
}

function layout(bytes: Buffer): LaidOut[] {
  const { count, directory, end } = readEnd(bytes)
  const found: LaidOut[] = []
  let at = directory
  let local = 0
  for (let index = 0; index < count; index += 1) {
    const header = readCentral(bytes, at)
    const { name } = header
    if (found.some((each) => each.name === name)) throw new Wrong(name, 'duplicate entry')
    if (header.local !== local)
      throw new Wrong(name, 'entries overlap, or there is data between them')
    const data = readLocal(bytes, header)
    local = data + header.packed
    const { crc32, size, method } = header
    found.push({ name, crc32, size, compressed: method === 8, data, end: local })
    at = header.next
  }
  if (at !== end) throw new Wrong('', 'the directory has a wrong length')
  if (local !== directory)
    throw new Wrong('', 'unexpected data between the last entry and the directory')
  return found
}

function readEnd(bytes: Buffer) {
  if (bytes.length > ARCHIVE_BYTES)
    throw new Wrong('', `${bytes.length} bytes; the maximum is ${ARCHIVE_BYTES}`)
  const end = bytes.length - END
  if (end < 0 || bytes.readUInt32LE(0) !== 0x04034b50)
    throw new Wrong('', 'not a zip archive, or there is data before its start')
  if (bytes.readUInt32LE(end) !== 0x06054b50)
    throw new Wrong('', 'the end record is not at the end: a comment or other data follows it')
  const [disk, first] = [bytes.readUInt16LE(end + 4), bytes.readUInt16LE(end + 6)]
  const [here, count] = [bytes.readUInt16LE(end + 8), bytes.readUInt16LE(end + 10)]
  const [size, directory] = [bytes.readUInt32LE(end + 12), bytes.readUInt32LE(end + 16)]
  if (disk !== 0 || first !== 0 || here !== count)
    throw new Wrong('', 'multi-part archives are not supported')
  if (bytes.readUInt16LE(end + 20) !== 0) throw new Wrong('', 'an archive comment is not supported')
  const zip64 = count === 0xffff || size === 0xffffffff || directory === 0xffffffff
  if (zip64 || (end >= 20 && bytes.readUInt32LE(end - 20) === 0x07064b50))
    throw new Wrong('', 'the zip64 format is not supported, and not needed for this size')
  const most = Object.keys(archiveEntries).length
  if (count === 0 || count > most)
    throw new Wrong(
      '',
      `${count} entries; expected 2 to ${most} of: ${Object.keys(archiveEntries).join(', ')}`,
    )
  if (directory + size !== end)
    throw new Wrong('', 'the directory is not where the end record points')
  return { count, directory, end }
}

interface Central {
  readonly name: EntryName
  readonly nameBytes: Buffer
  readonly flags: number
  readonly method: number
  readonly crc32: number
  readonly packed: number
  readonly size: number
  readonly local: number
  /** The offset of the next header. */
  readonly next: number
}

function readCentral(bytes: Buffer, at: number): Central {
  if (bytes.readUInt32LE(at) !== 0x02014b50)
    throw new Wrong('', 'the directory contains data that is not an entry')
  const made = bytes.readUInt16LE(at + 4)
  const lengths = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset))
  const [nameLength = 0, extraLength = 0, commentLength = 0] = lengths
  const next = at + CENTRAL + nameLength + extraLength + commentLength
  if (next > bytes.length) throw new RangeError('behind the end')
  const nameBytes = bytes.subarray(at + CENTRAL, at + CENTRAL + nameLength)
  const name = knownName(nameBytes)
  const extra = bytes.subarray(at + CENTRAL + nameLength, next - commentLength)
  const header = {
    flags: bytes.readUInt16LE(at + 8),
    method: bytes.readUInt16LE(at + 10),
    crc32: bytes.readUInt32LE(at + 16),
    packed: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    local: bytes.readUInt32LE(at + 42),
  }
  if (commentLength > 0) throw new Wrong(name, 'an entry comment is not supported')
  if (bytes.readUInt16LE(at + 34) !== 0)
    throw new Wrong(name, 'the entry is in another part of a multi-part archive')
  checkKind(name, made >> 8, bytes.readUInt32LE(at + 38))
  checkPacking(name, header)
  checkExtra(name, extra)
  return { name, nameBytes, next, ...header }
}

/** Only these exact names are accepted, so that no other name can have an effect. */
function knownName(bytes: Buffer): EntryName {
  const name = bytes.toString('latin1')
  if (Object.hasOwn(archiveEntries, name)) return name as EntryName
  const shown = JSON.stringify(name.slice(0, 80)).slice(1, -1)
  if (/(^|[\\/])\.\.([\\/]|$)|^[\\/]|^[A-Za-z]:/.test(name))
    throw new Wrong(shown, 'the name points outside of the archive')
  if (/[\\/]$/.test(name)) throw new Wrong(shown, 'a directory; only files are allowed')
  throw new Wrong(
    shown,
    `unknown entry name; expected one of: ${Object.keys(archiveEntries).join(', ')}`,
  )
}

/** Accepts a regular file only: no link, no directory, no device. */
function checkKind(name: string, system: number, attributes: number): void {
  const kind = (attributes >>> 16) & 0o170000
  if (kind === 0o120000) throw new Wrong(name, 'a symbolic link; only files are allowed')
  // Systems with Unix modes in the upper half: Unix itself, and macOS.
  if ((system === 3 || system === 19) && kind !== 0 && kind !== 0o100000)
    throw new Wrong(name, 'a special file; only regular files are allowed')
  // DOS attributes: volume label, directory.
  if ((attributes & 0x18) !== 0) throw new Wrong(name, 'a directory; only files are allowed')
}

function checkPacking(
  name: EntryName,
  { flags, method, packed, size }: Pick<Central, 'flags' | 'method' | 'packed' | 'size'>,
): void {
  if ((flags & 0x2041) !== 0) throw new Wrong(name, 'the entry is encrypted')
  if ((flags & 0x0008) !== 0)
    throw new Wrong(name, 'its sizes follow the data (a streamed zip); use "zip -X"')
  // The flags that remain allowed: compression level, and UTF-8 name.
  if ((flags & ~0x0806) !== 0) throw new Wrong(name, `unknown flags ${flags.toString(16)}`)
  if (method !== 0 && method !== 8)
    throw new Wrong(name, `compression method ${method}; expected deflate or none`)
  if (packed === 0xffffffff || size === 0xffffffff)
    throw new Wrong(name, 'the zip64 format is not supported')
  if (size > archiveEntries[name])
    throw new Wrong(name, `${size} bytes unpacked; the maximum is ${archiveEntries[name]}`)
  if (method === 0 && packed !== size)
    throw new Wrong(name, 'stored uncompressed, but its two sizes differ')
  if (size > packed * RATIO) throw new Wrong(name, `the compression ratio is above ${RATIO}`)
}

/** Allows times and owners; rejects a second name, other sizes and encryption. */
function checkExtra(name: string, extra: Buffer): void {
  let at = 0
  while (at < extra.length) {
    if (at + 4 > extra.length) throw new Wrong(name, 'its extra fields are malformed')
    const [id, length] = [extra.readUInt16LE(at), extra.readUInt16LE(at + 2)]
    if (id === 0x0001) throw new Wrong(name, 'the zip64 format is not supported')
    if (id === 0x7075 || id === 0x6375)
      throw new Wrong(name, 'a second name or comment is not supported')
    if (id === 0x9901 || id === 0x0017) throw new Wrong(name, 'the entry is encrypted')
    at += 4 + length
    if (at > extra.length) throw new Wrong(name, 'its extra fields are malformed')
  }
}

/** Checks that the local header matches the directory. Returns the offset of the data. */
function readLocal(bytes: Buffer, central: Central): number {
  const { name, local: at } = central
  if (bytes.readUInt32LE(at) !== 0x04034b50)
    throw new Wrong(name, 'no local header where the directory points')
  const nameLength = bytes.readUInt16LE(at + 26)
  const extraLength = bytes.readUInt16LE(at + 28)
  const data = at + LOCAL + nameLength + extraLength
  if (data + central.packed > bytes.length) throw new RangeError('behind the end')
  const same =
    bytes.readUInt16LE(at + 6) === central.flags &&
    bytes.readUInt16LE(at + 8) === central.method &&
    bytes.readUInt32LE(at + 14) === central.crc32 &&
    bytes.readUInt32LE(at + 18) === central.packed &&
    bytes.readUInt32LE(at + 22) === central.size &&
    bytes.subarray(at + LOCAL, at + LOCAL + nameLength).equals(central.nameBytes)
  if (!same) throw new Wrong(name, 'its local header and the directory differ')
  checkExtra(name, bytes.subarray(at + LOCAL + nameLength, data))
  return data
}
