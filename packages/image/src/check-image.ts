import type { FileHandle } from 'node:fs/promises'

import { foreignFormat } from './foreign-formats.ts'
import { readEnds, type ImageEnds } from './opened-image.ts'
import { requireSoundQcow2, type ExpectedBacking } from './qcow2-rules.ts'
import { hasQcowMagic, parseQcow2, type Qcow2Header } from './qcow2.ts'
import { refused } from './refused.ts'

const formats = ['raw', 'qcow2'] as const
const SECTOR_BYTES = 512n
const VIRTUAL_BYTES_MAX = 2 * 1024 ** 4

/** What an image must be. */
export interface ImageRules {
  /** The largest disk a guest may see; 2 TiB unless told. */
  readonly sizeMax?: number | bigint
  /** The format the image was said to have. Either is accepted unless told. */
  readonly expect?: 'raw' | 'qcow2'
  /** Whether snapshots may be inside, as in the disk of a VM of ours. An imported image must have none. */
  readonly snapshots?: boolean
  /** The only backing file that is accepted, as an absolute path, and only with its format. None unless told. */
  readonly backing?: { readonly allowed: string; readonly format?: 'raw' | 'qcow2' }
}

/** What an overlay of ours must be. */
export interface OverlayRules extends Pick<ImageRules, 'sizeMax' | 'snapshots'> {
  /** The absolute path that we wrote into it. */
  readonly backing: string
  readonly backingFormat: 'raw' | 'qcow2'
}

export interface ImageVerdict {
  readonly format: 'raw' | 'qcow2'
  /** The size of the disk that a guest sees. */
  readonly virtualBytes: number
  readonly fileBytes: number
}

/**
 * Says what an image is, from its first and last bytes, before any tool opens it; the tool is then told the format.
 * An image that refers to anything outside of itself, or that we do not fully understand, is a Fault `image-refused`.
 * Nobody else may be able to write to the file between this and its use.
 */
export async function checkImage(
  file: string | FileHandle,
  rules: ImageRules = {},
): Promise<ImageVerdict> {
  return judge(await readEnds(file), rules)
}

/** As `checkImage`, for a qcow2 file that must stand on exactly this backing file in this format. */
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

/** The header of a qcow2 file as it is written, not yet judged. */
export async function readQcow2(file: string | FileHandle): Promise<Qcow2Header> {
  const { head } = await readEnds(file)
  return parseQcow2(head)
}

function judge(ends: ImageEnds, rules: ImageRules): ImageVerdict {
  const backing = expectedBacking(rules)
  const format = recognise(ends)
  if (rules.expect !== undefined && rules.expect !== format) {
    throw refused(`it is ${format} and was said to be ${rules.expect}`)
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
    if (backing !== undefined) throw refused('it has no backing file and should have one')
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
  // Past the safe integers a number would no longer be the size that was checked.
  if (virtualBytes > BigInt(sizeMax) || virtualBytes > BigInt(Number.MAX_SAFE_INTEGER))
    throw refused(`its disk is larger than ${sizeMax} bytes`)
}

function expectedBacking({ backing }: ImageRules): ExpectedBacking | undefined {
  if (backing === undefined) return undefined
  // To QEMU a name that does not begin with a slash may be relative, a URL or a JSON description.
  if (!backing.allowed.startsWith('/')) throw new TypeError('a backing file needs an absolute path')
  return {
    file: backing.allowed,
    format: backing.format === undefined ? formats : [backing.format],
  }
}
