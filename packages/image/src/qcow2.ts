import { refused } from './refused.ts'

// Layout: docs/interop/qcow2.rst of QEMU. Every number is big-endian.
//
//    0 magic           24 size            56 refcount table clusters   88 autoclear features
//    4 version         32 crypt method    60 snapshots                 96 refcount order
//    8 backing offset  36 L1 entries      64 snapshots offset         100 header length
//   16 backing length  40 L1 offset       72 incompatible features    104 compression type
//   20 cluster bits    48 refcount table  80 compatible features      105 padding to 112
//                         offset

/** How many bytes of a file's start suffice for every header that we accept. */
export const HEAD_BYTES = 64 * 1024

const MAGIC = 0x514649fb
const HEADER_BYTES_V2 = 72
const HEADER_BYTES_V3_MIN = 104
const HEADER_BYTES_V3_MAX = 112
const BACKING_NAME_BYTES_MAX = 1023
const EXTENSIONS_MAX = 64

export const extensionType = {
  end: 0,
  backingFormat: 0xe2792aca,
  featureNames: 0x6803f857,
  bitmaps: 0x23852875,
  encryption: 0x0537be77,
  dataFile: 0x44415441,
} as const

/** The fields of a qcow2 header as stored. Which values are accepted is decided elsewhere. */
export interface Qcow2Header {
  readonly version: 2 | 3
  readonly clusterBits: number
  readonly virtualBytes: bigint
  readonly cryptMethod: number
  readonly l1Entries: number
  readonly l1Offset: bigint
  readonly refcountTableOffset: bigint
  readonly refcountTableClusters: number
  readonly snapshots: number
  readonly snapshotsOffset: bigint
  readonly incompatible: bigint
  readonly compatible: bigint
  readonly autoclear: bigint
  readonly refcountOrder: number
  readonly headerBytes: number
  readonly compressionType: number
  readonly extensions: readonly Extension[]
  readonly backingFile: string | undefined
  readonly backingFormat: string | undefined
}

export interface Extension {
  readonly type: number
  readonly content: Buffer
}

/** Whether the file has the magic number of qcow or qcow2. */
export function hasQcowMagic(head: Buffer): boolean {
  return head.length >= 4 && head.readUInt32BE(0) === MAGIC
}

/**
 * Parses a header without trusting it: nothing outside `head` is read, and a header that cannot be parsed in exactly one way
 * is a Fault `image-refused`. `head` is the start of the file: 64 KiB, or all of it if it is shorter.
 */
export function parseQcow2(head: Buffer): Qcow2Header {
  if (!hasQcowMagic(head)) throw refused('it is not a qcow2 image')
  if (head.length < HEADER_BYTES_V2) throw refused('its qcow2 header is truncated')
  const version = head.readUInt32BE(4)
  if (version !== 2 && version !== 3) {
    throw refused(`its qcow version is ${version}; 2 and 3 are accepted`)
  }
  const clusterBits = head.readUInt32BE(20)
  if (clusterBits < 9 || clusterBits > 21) throw refused('its cluster size is out of range')
  const headerBytes = version === 2 ? HEADER_BYTES_V2 : readHeaderBytes(head)
  const clusterBytes = 2 ** clusterBits
  const backing = locateBacking(head, headerBytes, clusterBytes)
  const extensionsEnd = backing?.start ?? Math.min(head.length, clusterBytes)
  const extensions = readExtensions(head, headerBytes, extensionsEnd)
  const format = extensions.find(({ type }) => type === extensionType.backingFormat)
  return {
    version,
    clusterBits,
    virtualBytes: head.readBigUInt64BE(24),
    cryptMethod: head.readUInt32BE(32),
    l1Entries: head.readUInt32BE(36),
    l1Offset: head.readBigUInt64BE(40),
    refcountTableOffset: head.readBigUInt64BE(48),
    refcountTableClusters: head.readUInt32BE(56),
    snapshots: head.readUInt32BE(60),
    snapshotsOffset: head.readBigUInt64BE(64),
    // Version 2 lacks these fields; their values are then fixed.
    incompatible: version === 2 ? 0n : head.readBigUInt64BE(72),
    compatible: version === 2 ? 0n : head.readBigUInt64BE(80),
    autoclear: version === 2 ? 0n : head.readBigUInt64BE(88),
    refcountOrder: version === 2 ? 4 : head.readUInt32BE(96),
    headerBytes,
    compressionType: headerBytes === HEADER_BYTES_V3_MAX ? head.readUInt8(104) : 0,
    extensions,
    backingFile: backing && asText(head.subarray(backing.start, backing.end), 'backing file'),
    backingFormat: format && asText(format.content, 'backing format'),
  }
}

function readHeaderBytes(head: Buffer): number {
  if (head.length < HEADER_BYTES_V3_MAX) throw refused('its qcow2 header is truncated')
  const headerBytes = head.readUInt32BE(100)
  if (headerBytes !== HEADER_BYTES_V3_MIN && headerBytes !== HEADER_BYTES_V3_MAX) {
    throw refused(`its header length is ${headerBytes}; 104 and 112 are accepted`)
  }
  const padding = head.subarray(105, headerBytes)
  if (padding.some((byte) => byte !== 0)) throw refused('its header padding is not zero')
  return headerBytes
}

/** The position of the backing file name, or undefined if there is none. */
function locateBacking(
  head: Buffer,
  headerBytes: number,
  clusterBytes: number,
): { start: number; end: number } | undefined {
  const offset = head.readBigUInt64BE(8)
  const length = head.readUInt32BE(16)
  if (offset === 0n && length === 0) return undefined
  if (length === 0 || length > BACKING_NAME_BYTES_MAX) {
    throw refused('its backing file name has an invalid length')
  }
  // QEMU reads extensions up to the name: a name inside the header would hide them from QEMU.
  const end = offset + BigInt(length)
  if (offset < BigInt(headerBytes) || end > BigInt(Math.min(head.length, clusterBytes))) {
    throw refused('its backing file name lies outside the header')
  }
  return { start: Number(offset), end: Number(end) }
}

function readExtensions(head: Buffer, start: number, end: number): Extension[] {
  const extensions: Extension[] = []
  let at = start
  while (extensions.length <= EXTENSIONS_MAX && at + 8 <= end) {
    const type = head.readUInt32BE(at)
    const length = head.readUInt32BE(at + 4)
    at += 8
    if (type === extensionType.end) {
      if (length !== 0) throw refused('the end marker of its header extensions has content')
      return extensions
    }
    if (length > end - at) throw refused('a header extension is longer than the header')
    if (extensions.some((before) => before.type === type)) {
      throw refused('a header extension is duplicated')
    }
    extensions.push({ type, content: head.subarray(at, at + length) })
    at += Math.ceil(length / 8) * 8
  }
  throw refused('its header extensions have no end marker')
}

/** QEMU reads a name as a C string: a name with a NUL would differ there. */
function asText(bytes: Buffer, what: string): string {
  const text = bytes.toString('utf8')
  if (text.includes('\0') || !Buffer.from(text).equals(bytes)) {
    throw refused(`the name of its ${what} is not text`)
  }
  return text
}
