import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * File modes of the engine. Other users of the host can read the path of every disk in QEMU's command line, so each file is
 * protected by its own mode, regardless of the directories above it. When a guest starts, libvirt makes QEMU's user the owner
 * of its disk and of all layers below; it never changes a mode.
 */
export const PRIVATE_FILE = 0o600
export const PRIVATE_DIRECTORY = 0o700
/** QEMU's user can traverse it to files it owns. Only root can list it. */
export const PASSABLE_DIRECTORY = 0o711
/** For the DHCP server, which runs as its own user, and for the root of a share, which users inside a guest see. */
export const PUBLIC_DIRECTORY = 0o755
export const PUBLIC_FILE = 0o644

const PERMISSIONS = 0o7777

/** Creates a directory and its missing parents with exactly this mode, regardless of the umask. */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode })
  if (first === undefined) {
    if (((await stat(path)).mode & PERMISSIONS) !== mode) await chmod(path, mode)
    return
  }
  for (let made = path; made.length >= first.length; made = dirname(made)) await chmod(made, mode)
}
