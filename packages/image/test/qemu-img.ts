import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

/** Why a test that needs qemu-img cannot run here, or false. */
export const withoutQemuImg =
  spawnSync('qemu-img', ['--version']).status === 0 ? false : 'needs qemu-utils: npm run setup'

const run = promisify(execFile)

/** Runs the real tool and rejects if it fails. */
export async function qemuImg(...words: readonly string[]): Promise<string> {
  const { stdout } = await run('qemu-img', words)
  return stdout
}

export interface ImageInfo {
  readonly format: string
  readonly 'virtual-size': number
  readonly 'backing-filename'?: string
  readonly 'backing-filename-format'?: string
  readonly 'format-specific'?: { readonly data: Readonly<Record<string, unknown>> }
}

export async function imageInfo(file: string, format: string): Promise<ImageInfo> {
  return JSON.parse(await qemuImg('info', '--output=json', '-f', format, file)) as ImageInfo
}
