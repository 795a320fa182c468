import { extensionType, type Qcow2Header } from './qcow2.ts'
import { refused } from './refused.ts'

/** The exact backing file entry of an overlay of ours. */
export interface ExpectedBacking {
  readonly file: string
  readonly format: readonly string[]
}

export interface Qcow2Rules {
  readonly fileBytes: bigint
  readonly snapshots: boolean
  readonly backing: ExpectedBacking | undefined
}

const DIRTY = 1n << 0n
const CORRUPT = 1n << 1n
const DATA_FILE = 1n << 2n
const COMPRESSION = 1n << 3n
const EXTENDED_L2 = 1n << 4n
const LAZY_REFCOUNTS = 1n << 0n

// QCOW_MAX_L1_SIZE, QCOW_MAX_REFTABLE_SIZE and QCOW_MAX_SNAPSHOTS of QEMU.
const L1_BYTES_MAX = 32 * 1024 * 1024
const REFCOUNT_TABLE_BYTES_MAX = 8 * 1024 * 1024
const SNAPSHOTS_MAX = 65_536
const SNAPSHOT_BYTES_MIN = 40

/** Rejects a header that refers outside its file, contradicts itself, or has content that we do not understand. */
export function requireSoundQcow2(header: Qcow2Header, rules: Qcow2Rules): void {
  requireNoOtherFile(header, rules.backing)
  requireKnownFeatures(header)
  requireKnownExtensions(header)
  requireCompression(header)
  requireTables(header, rules.fileBytes)
  requireSnapshots(header, rules)
}

function requireNoOtherFile(header: Qcow2Header, backing: ExpectedBacking | undefined): void {
  const extensions = header.extensions.map(({ type }) => type)
  if ((header.incompatible & DATA_FILE) !== 0n || extensions.includes(extensionType.dataFile)) {
    throw refused('its data is in another file')
  }
  if (backing === undefined) {
    if (header.backingFile !== undefined) throw refused('it has a backing file')
    if (header.backingFormat !== undefined) throw refused('it has a backing format')
    return
  }
  if (header.backingFile === undefined) throw refused('its backing file is missing')
  if (header.backingFile !== backing.file) throw refused('it has an unexpected backing file')
  // Without a format QEMU would guess it from the backing file's content, which a guest may have written.
  if (header.backingFormat === undefined) throw refused('its backing format is missing')
  if (!backing.format.includes(header.backingFormat)) {
    throw refused('it has an unexpected backing format')
  }
}

function requireKnownFeatures(header: Qcow2Header): void {
  if (header.cryptMethod !== 0) throw refused('it is encrypted')
  if ((header.incompatible & CORRUPT) !== 0n) throw refused('it is marked as corrupt')
  // Dirty means only that reference counts must be rebuilt, which QEMU does by itself.
  const known = DIRTY | COMPRESSION | EXTENDED_L2
  if ((header.incompatible & ~known) !== 0n) throw refused('it needs an unknown feature')
  if ((header.compatible & ~LAZY_REFCOUNTS) !== 0n) throw refused('it has an unknown feature')
  if (header.autoclear !== 0n) throw refused('it has bitmaps or an unknown feature')
}

function requireKnownExtensions(header: Qcow2Header): void {
  for (const { type } of header.extensions) {
    if (type === extensionType.backingFormat || type === extensionType.featureNames) continue
    if (type === extensionType.encryption) throw refused('it is encrypted')
    if (type === extensionType.bitmaps) throw refused('it has bitmaps')
    throw refused(`its header extension 0x${type.toString(16).padStart(8, '0')} is unknown`)
  }
}

function requireCompression({ compressionType, incompatible }: Qcow2Header): void {
  // 0 is zlib and 1 is zstd. The feature bit means "not zlib".
  const marked = (incompatible & COMPRESSION) !== 0n
  if (compressionType > 1) throw refused('its compression is unknown')
  if (marked !== (compressionType === 1)) throw refused('its compression contradicts its features')
}

function requireTables(header: Qcow2Header, fileBytes: bigint): void {
  const clusterBytes = 2 ** header.clusterBits
  const extended = (header.incompatible & EXTENDED_L2) !== 0n
  if (extended && header.clusterBits < 14) {
    throw refused('its clusters are too small for extended L2 entries')
  }
  if (header.refcountOrder > 6) throw refused('its reference counts are too wide')

  const l1Bytes = header.l1Entries * 8
  const bytesPerL1Entry = (BigInt(clusterBytes) * BigInt(clusterBytes)) / (extended ? 16n : 8n)
  const l1EntriesMin = (header.virtualBytes + bytesPerL1Entry - 1n) / bytesPerL1Entry
  if (l1Bytes > L1_BYTES_MAX) throw refused('its L1 table is too large')
  if (BigInt(header.l1Entries) < l1EntriesMin) throw refused('its L1 table is too small')

  const refcountBytes = header.refcountTableClusters * clusterBytes
  if (refcountBytes === 0) throw refused('it has no refcount table')
  if (refcountBytes > REFCOUNT_TABLE_BYTES_MAX) throw refused('its refcount table is too large')

  requireInside(header, 'L1 table', header.l1Offset, l1Bytes, fileBytes)
  requireInside(header, 'refcount table', header.refcountTableOffset, refcountBytes, fileBytes)
  const l1End = header.l1Offset + BigInt(l1Bytes)
  const refcountEnd = header.refcountTableOffset + BigInt(refcountBytes)
  if (header.l1Offset < refcountEnd && header.refcountTableOffset < l1End) {
    throw refused('its tables overlap')
  }
}

function requireSnapshots(header: Qcow2Header, rules: Qcow2Rules): void {
  if (header.snapshots === 0) {
    // QEMU checks the offset of the table even if the table is empty.
    if (header.snapshotsOffset !== 0n) {
      requireInside(header, 'snapshot table', header.snapshotsOffset, 0, rules.fileBytes)
    }
    return
  }
  if (!rules.snapshots) throw refused('it has internal snapshots')
  if (header.snapshots > SNAPSHOTS_MAX) throw refused('it has too many snapshots')
  const bytes = header.snapshots * SNAPSHOT_BYTES_MIN
  requireInside(header, 'snapshot table', header.snapshotsOffset, bytes, rules.fileBytes)
}

function requireInside(
  header: Qcow2Header,
  what: string,
  offset: bigint,
  bytes: number,
  fileBytes: bigint,
): void {
  const clusterBytes = 1n << BigInt(header.clusterBits)
  if (offset % clusterBytes !== 0n) throw refused(`its ${what} is not aligned to a cluster`)
  if (offset < clusterBytes) throw refused(`its ${what} overlaps the header`)
  if (offset + BigInt(bytes) > fileBytes) throw refused(`its ${what} lies outside the file`)
}
