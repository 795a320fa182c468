// Layout: docs/interop/qcow2.rst of QEMU; @skerry/image parses it. Every number is big-endian.
const MAGIC = 0x514649fb
const VERSION = 3
const HEADER_BYTES = 112
const CLUSTER_BITS = 16
const CLUSTER_BYTES = 2 ** CLUSTER_BITS
/** 16-bit reference counts. */
const REFCOUNT_ORDER = 4
const BACKING_FORMAT = 0xe2792aca
/** One L1 entry refers to a cluster of L2 entries, each of which refers to one cluster. */
const L1_ENTRY_BYTES = (CLUSTER_BYTES / 8) * CLUSTER_BYTES

/** Offsets of the tables after the header's cluster; the L1 table has a variable size. */
const REFCOUNT_TABLE = CLUSTER_BYTES
const REFCOUNT_BLOCK = 2 * CLUSTER_BYTES
const L1_TABLE = 3 * CLUSTER_BYTES

/**
 * An empty qcow2 file, with or without a backing file. It consists of tables only, and starting a
 * program that writes them takes far longer than writing them here.
 */
export function emptyQcow2(virtualBytes: number, backing?: string): Buffer {
  const l1Entries = l1EntriesOf(virtualBytes)
  const file = Buffer.alloc(L1_TABLE + l1Entries * 8)
  file.writeUInt32BE(MAGIC, 0)
  file.writeUInt32BE(VERSION, 4)
  file.writeUInt32BE(CLUSTER_BITS, 20)
  file.writeBigUInt64BE(BigInt(virtualBytes), 24)
  file.writeUInt32BE(l1Entries, 36)
  file.writeBigUInt64BE(BigInt(L1_TABLE), 40)
  file.writeBigUInt64BE(BigInt(REFCOUNT_TABLE), 48)
  file.writeUInt32BE(1, 56)
  file.writeUInt32BE(REFCOUNT_ORDER, 96)
  file.writeUInt32BE(HEADER_BYTES, 100)
  if (backing !== undefined) writeBacking(file, backing)

  file.writeBigUInt64BE(BigInt(REFCOUNT_BLOCK), REFCOUNT_TABLE)
  const clusters = Math.ceil(file.length / CLUSTER_BYTES)
  for (let cluster = 0; cluster < clusters; cluster += 1) {
    file.writeUInt16BE(1, REFCOUNT_BLOCK + cluster * 2)
  }
  return file
}

/** Bytes at the beginning of a file that `isUnfinished` needs. */
export const HEAD_BYTES = 32

/**
 * Whether a crash came before an empty file was written to its end: by its first bytes and its length. A power cut leaves zeros where
 * nothing was written. Any other beginning is a file of something else, or a damaged one.
 */
export function isUnfinished(head: Buffer, bytes: number): boolean {
  if (head.length < HEAD_BYTES || head.every((byte) => byte === 0)) return true
  if (head.readUInt32BE(0) !== MAGIC) return false
  return bytes < L1_TABLE + l1EntriesOf(Number(head.readBigUInt64BE(24))) * 8
}

const l1EntriesOf = (virtualBytes: number): number => Math.ceil(virtualBytes / L1_ENTRY_BYTES)

/** The backing format extension, the end-of-extensions marker, and the backing file name after it. */
function writeBacking(file: Buffer, name: string): void {
  const format = 'qcow2'
  file.writeUInt32BE(BACKING_FORMAT, HEADER_BYTES)
  file.writeUInt32BE(format.length, HEADER_BYTES + 4)
  file.write(format, HEADER_BYTES + 8)
  const nameAt = HEADER_BYTES + 8 + 8 + 8
  file.writeBigUInt64BE(BigInt(nameAt), 8)
  file.writeUInt32BE(file.write(name, nameAt), 16)
}
