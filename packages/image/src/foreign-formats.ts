// Signatures of other formats. Each could be taken for a raw disk, and then be read differently by a program
// that guesses.

interface Mark {
  readonly format: string
  readonly at: number
  readonly bytes: Buffer
}

const beginnings: readonly Mark[] = [
  mark('QED', 0, 'QED\0'),
  mark('VMDK', 0, 'KDMV'),
  mark('VMDK', 0, 'COWD'),
  mark('VHD', 0, 'conectix'),
  mark('VHDX', 0, 'vhdxfile'),
  mark('VDI', 0x40, '\x7f\x10\xda\xbe'),
  mark('LUKS', 0, 'LUKS\xba\xbe'),
  mark('Parallels', 0, 'WithoutFreeSpace'),
  mark('Parallels', 0, 'WithouFreSpacExt'),
  mark('Bochs', 0, 'Bochs Virtual HD Image'),
  mark('cloop', 0, '#!/bin/sh\n#V2.0'),
]

/** How many bytes of a file's end `foreignFormat` checks: the range in which QEMU searches the trailer of a DMG. */
export const TAIL_BYTES = 1024

// A descriptor consists of comments and empty lines and then its version, by which QEMU recognises it.
const VMDK_DESCRIPTOR_BYTES = 2048
const VMDK_TITLE = '# disk descriptorfile'

/** The name of the format, if the file has a known format that is not accepted. */
export function foreignFormat(head: Buffer, tail: Buffer): string | undefined {
  for (const { format, at, bytes } of beginnings) {
    if (head.subarray(at, at + bytes.length).equals(bytes)) return format
  }
  if (isVmdkDescriptor(head)) return 'VMDK'
  // A fixed VHD is a raw disk with a trailer of 512 bytes, in old ones 511.
  const trailer = tail.subarray(-512).indexOf('conectix')
  if (trailer === 0 || trailer === 1) return 'VHD'
  if (tail.includes('koly')) return 'DMG'
  return undefined
}

function isVmdkDescriptor(head: Buffer): boolean {
  const lines = head.toString('latin1', 0, VMDK_DESCRIPTOR_BYTES).split('\n')
  if (lines[0]?.toLowerCase().startsWith(VMDK_TITLE) === true) return true
  const first = lines.find((line) => !line.startsWith('#') && line.trim() !== '')
  return first?.trimStart().toLowerCase().startsWith('version=') === true
}

function mark(format: string, at: number, bytes: string): Mark {
  return { format, at, bytes: Buffer.from(bytes, 'latin1') }
}
