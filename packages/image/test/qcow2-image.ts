const CLUSTER = 512

/** A change of a header field, at its offset. */
export interface Change {
  readonly u8?: Readonly<Record<number, number>>
  readonly u32?: Readonly<Record<number, number>>
  readonly u64?: Readonly<Record<number, bigint>>
}

export interface ImageParts extends Change {
  readonly version?: 2 | 3
  readonly extensions?: readonly (readonly [type: number, content: string | Buffer])[]
  readonly backing?: string | Buffer
  /** The position of the backing file name. Default: after the extensions. */
  readonly backingAt?: number
  /** Data after the last cluster. */
  readonly more?: Buffer
  /** Omits the end marker of the extensions. */
  readonly endless?: boolean
}

/** The offset of every field, by its name in the specification. */
export const field = {
  magic: 0,
  version: 4,
  backingOffset: 8,
  backingLength: 16,
  clusterBits: 20,
  size: 24,
  cryptMethod: 32,
  l1Entries: 36,
  l1Offset: 40,
  refcountOffset: 48,
  refcountClusters: 56,
  snapshots: 60,
  snapshotsOffset: 64,
  incompatible: 72,
  compatible: 80,
  autoclear: 88,
  refcountOrder: 96,
  headerBytes: 100,
  compression: 104,
} as const

export const VIRTUAL_BYTES = 32 * 1024

/**
 * A complete qcow2 image of four clusters, valid except for the changes in `parts`:
 *
 *   0 header   512 refcount table   1024 refcount block   1536 L1 table
 */
export function qcow2Image(parts: ImageParts = {}): Buffer {
  const image = Buffer.alloc(4 * CLUSTER)
  const version = parts.version ?? 3
  const headerBytes = version === 2 ? 72 : 112
  image.write('QFI\xfb', 'latin1')
  image.writeUInt32BE(version, field.version)
  image.writeUInt32BE(9, field.clusterBits)
  image.writeBigUInt64BE(BigInt(VIRTUAL_BYTES), field.size)
  image.writeUInt32BE(1, field.l1Entries)
  image.writeBigUInt64BE(1536n, field.l1Offset)
  image.writeBigUInt64BE(512n, field.refcountOffset)
  image.writeUInt32BE(1, field.refcountClusters)
  if (version === 3) {
    image.writeUInt32BE(4, field.refcountOrder)
    image.writeUInt32BE(headerBytes, field.headerBytes)
  }
  writeNames(image, headerBytes, parts)
  image.writeBigUInt64BE(1024n, 512)
  for (let cluster = 0; cluster < 4; cluster += 1) image.writeUInt16BE(1, 1024 + 2 * cluster)

  for (const [at, value] of Object.entries(parts.u8 ?? {})) image.writeUInt8(value, Number(at))
  for (const [at, value] of Object.entries(parts.u32 ?? {})) image.writeUInt32BE(value, Number(at))
  for (const [at, value] of Object.entries(parts.u64 ?? {})) {
    image.writeBigUInt64BE(value, Number(at))
  }
  return Buffer.concat([image, parts.more ?? Buffer.alloc(0)])
}

function writeNames(image: Buffer, start: number, parts: ImageParts): void {
  let at = start
  for (const [type, content] of parts.extensions ?? []) {
    const bytes = Buffer.from(content)
    image.writeUInt32BE(type, at)
    image.writeUInt32BE(bytes.length, at + 4)
    bytes.copy(image, at + 8)
    at += 8 + Math.ceil(bytes.length / 8) * 8
  }
  if (parts.endless !== true) at += 8
  if (parts.backing === undefined) return
  const name = Buffer.from(parts.backing)
  const nameAt = parts.backingAt ?? at
  name.copy(image, nameAt)
  image.writeBigUInt64BE(BigInt(nameAt), field.backingOffset)
  image.writeUInt32BE(name.length, field.backingLength)
}
