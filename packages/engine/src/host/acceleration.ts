import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Hypervisor } from './definition.ts'
import { runTool } from './tool.ts'

const PROBE_TIMEOUT_MS = 5000

/**
 * mov al, 'K' ; out 0xe9, al ; mov al, 1 ; out 0xf4, al ; hlt — in the first sector of a disk.
 * Port 0xe9 is QEMU's debug console; 0xf4 is isa-debug-exit, which terminates QEMU.
 */
const PROBE_CODE = [0xb0, 0x4b, 0xe6, 0xe9, 0xb0, 0x01, 0xe6, 0xf4, 0xf4]
const SECTOR_BYTES = 512

/**
 * Finds out how this host runs guests by starting one. /dev/kvm may exist, open and accept calls
 * although no guest ever executes an instruction.
 */
export async function probeHypervisor(): Promise<Hypervisor> {
  const cpu = await readFile('/proc/cpuinfo', 'utf8')
  const flags = new Set(cpu.match(/^flags\s*:(.*)$/m)?.[1]?.split(/\s+/))
  if (!flags.has('vmx') && !flags.has('svm')) return emulated
  return (await runsUnderKvm())
    ? { type: 'kvm', nesting: flags.has('vmx') ? 'vmx' : 'svm' }
    : emulated
}

/** QEMU's emulated CPU is an AMD one. */
const emulated: Hypervisor = { type: 'qemu', nesting: 'svm' }

async function runsUnderKvm(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-probe-'))
  try {
    const sector = Buffer.alloc(SECTOR_BYTES)
    sector.set(PROBE_CODE)
    sector.writeUInt16LE(0xaa55, SECTOR_BYTES - 2)
    const image = join(directory, 'probe.img')
    const output = join(directory, 'output')
    await writeFile(image, sector)
    await runTool(
      'qemu-system-x86_64',
      [
        '-accel',
        'kvm',
        '-machine',
        'pc',
        '-m',
        '16',
        '-nodefaults',
        '-display',
        'none',
        '-drive',
        `file=${image},format=raw,if=ide,readonly=on`,
        '-chardev',
        `file,id=output,path=${output}`,
        '-device',
        'isa-debugcon,chardev=output',
        '-device',
        'isa-debug-exit,iobase=0xf4,iosize=4',
      ],
      { timeoutMs: PROBE_TIMEOUT_MS },
      // isa-debug-exit makes QEMU exit with an odd status, which counts as failure; the output decides.
    ).catch(() => undefined)
    return (await readFile(output, 'utf8').catch(() => '')).startsWith('K')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
