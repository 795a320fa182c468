import type { FileHandle } from 'node:fs/promises'

import { foreignFormat } from './foreign-formats.ts'
import { readEnds, type ImageEnds } from './opened-image.ts'
import { requireSoundQcow2, type ExpectedBacking } from './qcow2-rules.ts'
import { hasQcowMagic, parseQcow2, type Qcow2Header } from './qcow2.ts'
import { refused } from './refused.ts'

const formats = ['raw', 'qcow2'] as const
const SECTOR_BYTES = 512n
const VIRTUAL_BYTES_MAX = 2 * 1024 ** 4

/** The requirements for an image. */
export interface ImageRules {
  /** The largest virtual disk size; default: 2 TiB. */
  readonly sizeMax?: number | bigint
  /** The declared format; default: either. */
  readonly expect?: 'raw' | 'qcow2'
  /** Whether internal snapshots are allowed, as in the disk of our own VMs. An imported image must have none. */
  readonly snapshots?: boolean
  /** The only accepted backing file, as an absolute path, and its format; default: none. */
  readonly backing?: { readonly allowed: string; readonly format?: 'raw' | 'qcow2' }
}

/** The requirements for an overlay of ours. */
export interface OverlayRules extends Pick<ImageRules, 'sizeMax' | 'snapshots'> {
  /** The absolute path that we wrote into it. */
  readonly backing: string
  readonly backingFormat: 'raw' | 'qcow2'
}

export interface ImageVerdict {
  readonly format: 'raw' | 'qcow2'
  /** The virtual disk size. */
  readonly virtualBytes: number
  readonly fileBytes: number
}

/**
 * Determines the format of an image from its first and last bytes, before any tool opens it; the tool then gets the format.
 * An image that refers to anything outside itself, or that we do not fully understand, is a Fault `image-refused`.
 * No other process may be able to write to the file between this check and its use.
 */
export async function checkImage(
  file: string | FileHandle,
  rules: ImageRules = {},
): Promise<ImageVerdict> {
  return verdictOf(await readEnds(file), rules)
}

/** Like `checkImage`, for a qcow2 file that must have exactly this backing file in this format. */
export async function checkOverlay(
  file: string | FileHandle,
  { backing, backingFormat, ...rules }: OverlayRules,
): Promise<ImageVerdict> {
  return checkImage(file, {
    ...rules,
    expect: 'qcow2',
    backing: { allowed: backing, format: backingFormat },
  })
}

/** The header of a qcow2 file as stored, not checked. */
export async function readQcow2(file: string | FileHandle): Promise<Qcow2Header> {
  const { head } = await readEnds(file)
  return parseQcow2(head)
}

function verdictOf(ends: ImageEnds, rules: ImageRules): ImageVerdict {
  const backing = expectedBacking(rules)
  const format = recognise(ends)
  if (rules.expect !== undefined && rules.expect !== format) {
    throw refused(`its format is ${format}, expected ${rules.expect}`)
  }
  let virtualBytes = ends.fileBytes
  if (format === 'qcow2') {
    const header = parseQcow2(ends.head)
    virtualBytes = header.virtualBytes
    requireSize(virtualBytes, rules)
    const { fileBytes } = ends
    requireSoundQcow2(header, { fileBytes, snapshots: rules.snapshots ?? false, backing })
  } else {
    requireSize(virtualBytes, rules)
    if (backing !== undefined) throw refused('its backing file is missing')
  }
  return { format, virtualBytes: Number(virtualBytes), fileBytes: Number(ends.fileBytes) }
}

function recognise({ head, tail }: ImageEnds): 'raw' | 'qcow2' {
  if (hasQcowMagic(head)) return 'qcow2'
  const foreign = foreignFormat(head, tail)
  if (foreign !== undefined) throw refused(`it is ${foreign}; raw and qcow2 are accepted`)
  return 'raw'
}

function requireSize(virtualBytes: bigint, { sizeMax = VIRTUAL_BYTES_MAX }: ImageRules): void {
  if (virtualBytes === 0n) throw refused('it is empty')
  if (virtualBytes % SECTOR_BYTES !== 0n) throw refused('its size is not a multiple of 512 bytes')
  // Above the safe integers a number would differ from the size that was checked.
  if (virtualBytes > BigInt(sizeMax) || virtualBytes > BigInt(Number.MAX_SAFE_INTEGER))
    throw refused(`its disk is larger than ${sizeMax} bytes`)
}

function expectedBacking({ backing }: ImageRules): ExpectedBacking | undefined {
  if (backing === undefined) return undefined
  // QEMU may interpret a name without a leading slash as relative, as a URL or as JSON.
  if (!backing.allowed.startsWith('/')) throw new TypeError('a backing file needs an absolute path')
  return {
    file: backing.allowed,
    format: backing.format === undefined ? formats : [backing.format],
  }
}
