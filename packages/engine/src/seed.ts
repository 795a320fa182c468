import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { Fault } from '@skerry/fault'

import { syncDirectory } from './record.ts'
import { runTool } from './tool.ts'

/** What a guest is told about itself at its first start (cloud-init's NoCloud). */
export interface Seed {
  /** Public keys that may log in. */
  readonly sshKeys?: readonly string[]
  /** A cloud-init document of the caller's own; it takes the place of the keys. */
  readonly userData?: string
}

const SEED_BYTES = 1024 * 1024
const USER_DATA_BYTES_MAX = 512 * 1024
// One line, so that a key cannot bring lines of its own into the document.
const SSH_KEY =
  /^(ssh-(ed25519|rsa)|ecdsa-sha2-nistp\d+|sk-[a-z0-9@.-]+) [A-Za-z0-9+/=]{16,}( [^\p{Cc}]*)?$/u

export function whyNotSeed({ sshKeys = [], userData }: Seed): string | undefined {
  if (userData !== undefined && sshKeys.length > 0) {
    return 'give sshKeys or userData, not both: put the keys into the document'
  }
  if (userData !== undefined && Buffer.byteLength(userData) > USER_DATA_BYTES_MAX) {
    return `userData must have at most ${USER_DATA_BYTES_MAX} bytes`
  }
  const wrong = sshKeys.find((key) => !SSH_KEY.test(key))
  return wrong === undefined ? undefined : 'an SSH key must be one line as in a .pub file'
}

/** The two documents of a NoCloud seed. Strings are JSON's, which YAML reads as its own. */
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
  // Beside the seed, so that whoever takes a half made VM away takes its secrets too.
  const work = `${file}.files`
  await mkdir(work, { mode: 0o700 })
  try {
    const image = `${file}.tmp`
    await rm(image, { force: true })
    const size = String(SEED_BYTES / 1024)
    await runTool('mkfs.vfat', ['-n', 'CIDATA', '-C', image, size])
    for (const [name, text] of Object.entries(seedFiles(vm, seed))) {
      await writeFile(join(work, name), text, { mode: 0o600 })
      await runTool('mcopy', ['-i', image, join(work, name), `::${name}`])
    }
    await using handle = await open(image, 'r')
    await handle.sync()
    await rename(image, file)
    await syncDirectory(dirname(file))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
