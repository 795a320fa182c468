// What a host finds on its disks.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { unmountBelow } from './mounts.ts'
import { MOUNT_POINTS } from './reaper.ts'

const LONGEST_SOCKET_PATH = 107

/** A short name for a directory, the same every time, so that whatever was made for it can be found without any record. */
export function shortNameOf(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, 8)
}

export function socketIn(directory: string): string {
  return join(directory, 'run', 'libvirt', 'libvirt-sock')
}

/** Says at once what would otherwise fail late and in strange words. */
export function checkDirectory(directory: string): void {
  const hiding = ['/run', '/proc', '/sys', ...MOUNT_POINTS].find(
    (point) => directory === point || directory.startsWith(`${point}/`),
  )
  if (hiding !== undefined) {
    throw new Error(
      `a host's directory cannot lie in ${hiding}: the host has a ${hiding} of its own`,
    )
  }
  if (Buffer.byteLength(socketIn(directory)) > LONGEST_SOCKET_PATH) {
    throw new Error(
      `${directory} is too long a path: sockets in it could not be opened; choose a shorter one`,
    )
  }
}

/** Makes the host's directories when they are missing, and empties /run: memory does not outlive a power cut. */
export async function prepareDirectory(
  directory: string,
  neighbours: Readonly<Record<string, string>>,
): Promise<void> {
  checkDirectory(directory)
  for (const point of MOUNT_POINTS) await mkdir(point, { recursive: true })
  for (const part of ['run', 'var/images', 'cache', 'log', 'skerry']) {
    await mkdir(join(directory, part), { recursive: true })
  }
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
 * A fresh machine's /etc/libvirt: the packaged settings and filters, none of this machine's own guests and networks. Each host
 * has an identity of its own, because libvirt refuses to migrate a guest between two hosts that say they are the same one.
 */
async function configure(etc: string): Promise<void> {
  await mkdir(join(etc, 'qemu'), { recursive: true })
  await cp('/etc/libvirt/nwfilter', join(etc, 'nwfilter'), { recursive: true })
  await cp('/etc/libvirt/virtlogd.conf', join(etc, 'virtlogd.conf'))
  await writeFile(
    join(etc, 'qemu.conf'),
    [
      // There is no security module, no cgroup and no /dev of its own in these namespaces.
      'security_driver = "none"',
      'user = "root"',
      'group = "root"',
      'namespaces = []',
      'cgroup_controllers = []',
      '',
    ].join('\n'),
  )
  // Written last: its presence says that the rest is complete.
  await writeFile(
    join(etc, 'libvirtd.conf'),
    ['auth_unix_rw = "none"', 'auth_unix_ro = "none"', `host_uuid = "${randomUUID()}"`, ''].join(
      '\n',
    ),
  )
}
