// The disk contents of a host.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { unmountBelow } from '../system/mounts.ts'
import { MOUNT_POINTS } from './reaper.ts'

const LONGEST_SOCKET_PATH = 107
/** The user and group that Debian's libvirt runs guests as. Its package libvirt-daemon-system creates them. */
const QEMU_USER = 'libvirt-qemu'
/** Members of this group may use libvirt's sockets, as on a Debian machine. */
const LIBVIRT_GROUP = 'libvirt'

/** A short stable name for a directory, so that its resources can be found without any record. */
export function shortNameOf(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, 8)
}

export function socketIn(directory: string): string {
  return join(directory, 'run', 'libvirt', 'libvirt-sock')
}

/** Reports early what would otherwise fail later with an unclear error. */
export function checkDirectory(directory: string): void {
  const hiding = ['/run', '/proc', '/sys', ...MOUNT_POINTS].find(
    (point) => directory === point || directory.startsWith(`${point}/`),
  )
  if (hiding !== undefined) {
    throw new Error(
      `the directory of a host cannot be in ${hiding}: the host has its own ${hiding}`,
    )
  }
  if (Buffer.byteLength(socketIn(directory)) > LONGEST_SOCKET_PATH) {
    throw new Error(
      `${directory} is too long: sockets in it could not be opened; choose a shorter path`,
    )
  }
}

/** Creates missing directories of the host, and empties /run: memory does not survive a power cut. */
export async function prepareDirectory(
  directory: string,
  neighbours: Readonly<Record<string, string>>,
): Promise<void> {
  checkDirectory(directory)
  for (const point of MOUNT_POINTS) await mkdir(point, { recursive: true })
  await chmod(directory, 0o711)
  for (const part of ['run', 'log', 'var']) await ownDirectory(join(directory, part), 0o755)
  // As the package creates them: QEMU may traverse, but not list.
  for (const part of ['var/images', 'cache', 'skerry']) {
    await ownDirectory(join(directory, part), 0o711)
  }
  const { uid, gid } = await qemuUser()
  await ownDirectory(join(directory, 'var/qemu'), 0o750)
  await chown(join(directory, 'var/qemu'), uid, gid)
  if (!existsSync(join(directory, 'etc', 'libvirtd.conf'))) await configure(join(directory, 'etc'))

  await unmountBelow(join(directory, 'run'))
  for (const name of await readdir(join(directory, 'run'))) {
    await rm(join(directory, 'run', name), { recursive: true, force: true })
  }
  await mkdir(join(directory, 'run', 'lock'), { recursive: true })

  const names = Object.entries(neighbours).map(([name, address]) => `${address} ${name}`)
  await writeFile(
    join(directory, 'hosts'),
    ['127.0.0.1 localhost', '::1 localhost', ...names, ''].join('\n'),
  )
}

/**
 * The /etc/libvirt of a fresh machine: packaged settings and filters, without this machine's guests and networks. Each host has its
 * own identity, because libvirt refuses to migrate a guest between two hosts with the same one.
 */
async function configure(etc: string): Promise<void> {
  await mkdir(join(etc, 'qemu'), { recursive: true })
  await cp('/etc/libvirt/nwfilter', join(etc, 'nwfilter'), { recursive: true })
  await cp('/etc/libvirt/virtlogd.conf', join(etc, 'virtlogd.conf'))
  await writeFile(
    join(etc, 'qemu.conf'),
    [
      // These namespaces have no security module, no cgroup and no private /dev.
      'security_driver = "none"',
      // Debian's default, explicit so that no build of libvirt runs guests as root.
      `user = "${QEMU_USER}"`,
      `group = "${QEMU_USER}"`,
      'namespaces = []',
      'cgroup_controllers = []',
      '',
    ].join('\n'),
  )
  // Written last: its presence means that the rest is complete.
  await writeFile(
    join(etc, 'libvirtd.conf'),
    [
      'auth_unix_rw = "none"',
      'auth_unix_ro = "none"',
      `unix_sock_group = "${LIBVIRT_GROUP}"`,
      'unix_sock_rw_perms = "0770"',
      `host_uuid = "${randomUUID()}"`,
      '',
    ].join('\n'),
  )
}

/** Creates a directory with this mode, independent of the umask. */
async function ownDirectory(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true })
  await chmod(path, mode)
}

/** The ids of the user that guests run as, from the machine's own files. */
async function qemuUser(): Promise<{ readonly uid: number; readonly gid: number }> {
  const idIn = async (file: string) => {
    const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.split(':'))
    const id = lines.find(([name]) => name === QEMU_USER)?.[2]
    if (id !== undefined) return Number(id)
    throw new Error(
      `${file} has no ${QEMU_USER}: reinstall libvirt-daemon-system, its package creates it`,
    )
  }
  return { uid: await idIn('/etc/passwd'), gid: await idIn('/etc/group') }
}
