import { chmod, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { renameDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { whyNotSeed, type Seed } from '@skerry/vm'

import { runTool } from '../host/tool.ts'

const SEED_BYTES = 1024 * 1024

/** The two documents of a NoCloud seed. Strings are JSON strings, which are valid YAML. */
export function seedFiles(
  vm: { readonly uuid: string; readonly hostname: string },
  { sshKeys = [], userData }: Seed,
): { readonly 'meta-data': string; readonly 'user-data': string } {
  const keys = sshKeys.map((key) => `  - ${JSON.stringify(key)}\n`)
  return {
    'meta-data': `instance-id: ${JSON.stringify(vm.uuid)}\nlocal-hostname: ${JSON.stringify(vm.hostname)}\n`,
    'user-data':
      userData ??
      `#cloud-config\n${keys.length > 0 ? `ssh_authorized_keys:\n${keys.join('')}` : '{}\n'}`,
  }
}

/** Writes the seed as a small FAT disk with the label that cloud-init looks for. */
export async function writeSeed(
  file: string,
  vm: { readonly uuid: string; readonly hostname: string },
  seed: Seed,
): Promise<void> {
  const why = whyNotSeed(seed)
  if (why !== undefined) throw new Fault('invalid', why)
  // Beside the seed, so that removing an incomplete VM also removes its secrets.
  const work = `${file}.files`
  await mkdir(work, { mode: 0o700 })
  try {
    const image = `${file}.tmp`
    await rm(image, { force: true })
    const size = String(SEED_BYTES / 1024)
    await runTool('mkfs.vfat', ['-n', 'CIDATA', '-C', image, size])
    // Its content is for the guest only: libvirt gives the file to QEMU's user at start.
    await chmod(image, 0o600)
    for (const [name, text] of Object.entries(seedFiles(vm, seed))) {
      await writeFile(join(work, name), text, { mode: 0o600 })
      await runTool('mcopy', ['-i', image, join(work, name), `::${name}`])
    }
    await using handle = await open(image, 'r')
    await handle.sync()
    await renameDurably(image, file)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
