import { archiveEntries, ARCHIVE_BYTES, type EntryName } from './manifest.ts'

/** What is wrong with an archive, and in which entry; '' is the archive itself. */
export interface ArchiveComplaint {
  readonly entry: string
  readonly message: string
}

/** An entry whose headers agree with each other. */
export interface LaidOut {
  readonly name: EntryName
  readonly crc32: number
  readonly size: number
  readonly compressed: boolean
  /** Where its data begins and ends. */
  readonly data: number
  readonly end: number
}

/** More than text ever shrinks to; a bomb begins at 1,000. */
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
 * Every byte of the archive is accounted for before anything is unpacked: local headers one behind the other from the first byte on,
 * then the directory, then the end, which agree in everything. Two readers could not read it in two ways.
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
        complaints: [{ entry: '', message: 'a header leads behind the end of the archive' }],
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
    if (found.some((each) => each.name === name))
      throw new Wrong(name, 'it is in the archive twice')
    if (header.local !== local)
      throw new Wrong(name, 'entries overlap, or something lies between them')
    const data = readLocal(bytes, header)
    local = data + header.packed
    const { crc32, size, method } = header
    found.push({ name, crc32, size, compressed: method === 8, data, end: local })
    at = header.next
  }
  if (at !== end) throw new Wrong('', 'the directory is not as long as it says')
  if (local !== directory)
    throw new Wrong('', 'between the last entry and the directory lies something else')
  return found
}

function readEnd(bytes: Buffer) {
  if (bytes.length > ARCHIVE_BYTES)
    throw new Wrong('', `${bytes.length} bytes; an archive has at most ${ARCHIVE_BYTES}`)
  const end = bytes.length - END
  if (end < 0 || bytes.readUInt32LE(0) !== 0x04034b50)
    throw new Wrong('', 'this is no zip archive, or something stands before its beginning')
  if (bytes.readUInt32LE(end) !== 0x06054b50)
    throw new Wrong(
      '',
      'no end of the archive where it must be: a comment or other data follows it',
    )
  const [disk, first] = [bytes.readUInt16LE(end + 4), bytes.readUInt16LE(end + 6)]
  const [here, count] = [bytes.readUInt16LE(end + 8), bytes.readUInt16LE(end + 10)]
  const [size, directory] = [bytes.readUInt32LE(end + 12), bytes.readUInt32LE(end + 16)]
  if (disk !== 0 || first !== 0 || here !== count)
    throw new Wrong('', 'archives in several parts are not taken')
  if (bytes.readUInt16LE(end + 20) !== 0) throw new Wrong('', 'a comment is not taken')
  const zip64 = count === 0xffff || size === 0xffffffff || directory === 0xffffffff
  if (zip64 || (end >= 20 && bytes.readUInt32LE(end - 20) === 0x07064b50))
    throw new Wrong('', 'the zip64 format is not taken: nothing in it is that large')
  const most = Object.keys(archiveEntries).length
  if (count === 0 || count > most)
    throw new Wrong(
      '',
      `${count} entries; there are 2 to ${most}: ${Object.keys(archiveEntries).join(', ')}`,
    )
  if (directory + size !== end) throw new Wrong('', 'the directory is not where the end says')
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
  /** Where the next header begins. */
  readonly next: number
}

function readCentral(bytes: Buffer, at: number): Central {
  if (bytes.readUInt32LE(at) !== 0x02014b50)
    throw new Wrong('', 'the directory holds something that is no entry')
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
  if (commentLength > 0) throw new Wrong(name, 'a comment is not taken')
  if (bytes.readUInt16LE(at + 34) !== 0) throw new Wrong(name, 'it lies in another part')
  checkKind(name, made >> 8, bytes.readUInt32LE(at + 38))
  checkPacking(name, header)
  checkExtra(name, extra)
  return { name, nameBytes, next, ...header }
}

/** Only these names exist, letter by letter: whatever else a name may be meant to do, it does not. */
function knownName(bytes: Buffer): EntryName {
  const name = bytes.toString('latin1')
  if (Object.hasOwn(archiveEntries, name)) return name as EntryName
  const shown = JSON.stringify(name.slice(0, 80)).slice(1, -1)
  if (/(^|[\\/])\.\.([\\/]|$)|^[\\/]|^[A-Za-z]:/.test(name))
    throw new Wrong(shown, 'this name leads out of the archive')
  if (/[\\/]$/.test(name)) throw new Wrong(shown, 'a directory; there are only files')
  throw new Wrong(shown, `this name is not known; known: ${Object.keys(archiveEntries).join(', ')}`)
}

/** A file like any other: no link, no directory, no device. */
function checkKind(name: string, system: number, attributes: number): void {
  const kind = (attributes >>> 16) & 0o170000
  if (kind === 0o120000) throw new Wrong(name, 'a symbolic link; there are only files')
  // Systems with Unix modes in the upper half: Unix itself, and macOS.
  if ((system === 3 || system === 19) && kind !== 0 && kind !== 0o100000)
    throw new Wrong(name, 'neither a file nor a link: there are only files')
  // DOS attributes: a volume's name, a directory.
  if ((attributes & 0x18) !== 0) throw new Wrong(name, 'a directory; there are only files')
}

function checkPacking(
  name: EntryName,
  { flags, method, packed, size }: Pick<Central, 'flags' | 'method' | 'packed' | 'size'>,
): void {
  if ((flags & 0x2041) !== 0) throw new Wrong(name, 'it is encrypted')
  if ((flags & 0x0008) !== 0)
    throw new Wrong(name, 'its sizes stand behind it (made by streaming); zip it with "zip -X"')
  // What is left: how well it was compressed, and that its name is UTF-8.
  if ((flags & ~0x0806) !== 0) throw new Wrong(name, `flags ${flags.toString(16)} are not known`)
  if (method !== 0 && method !== 8)
    throw new Wrong(name, `compressed by method ${method}; expected deflate or none`)
  if (packed === 0xffffffff || size === 0xffffffff)
    throw new Wrong(name, 'the zip64 format is not taken')
  if (size > archiveEntries[name])
    throw new Wrong(name, `${size} bytes unpacked; it has at most ${archiveEntries[name]}`)
  if (method === 0 && packed !== size) throw new Wrong(name, 'stored, but of two sizes')
  if (size > packed * RATIO) throw new Wrong(name, `it would grow more than ${RATIO} times`)
}

/** Times and owners may stand there; another name, other sizes or a cipher may not. */
function checkExtra(name: string, extra: Buffer): void {
  let at = 0
  while (at < extra.length) {
    if (at + 4 > extra.length) throw new Wrong(name, 'its extra fields can not be read')
    const [id, length] = [extra.readUInt16LE(at), extra.readUInt16LE(at + 2)]
    if (id === 0x0001) throw new Wrong(name, 'the zip64 format is not taken')
    if (id === 0x7075 || id === 0x6375)
      throw new Wrong(name, 'a second name or comment is not taken')
    if (id === 0x9901 || id === 0x0017) throw new Wrong(name, 'it is encrypted')
    at += 4 + length
    if (at > extra.length) throw new Wrong(name, 'its extra fields can not be read')
  }
}

/** The header before the data says the same as the directory. Answers where the data begins. */
function readLocal(bytes: Buffer, central: Central): number {
  const { name, local: at } = central
  if (bytes.readUInt32LE(at) !== 0x04034b50)
    throw new Wrong(name, 'it has no header where the directory says')
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
  if (!same) throw new Wrong(name, 'its header and the directory do not say the same')
  checkExtra(name, bytes.subarray(at + LOCAL + nameLength, data))
  return data
}
