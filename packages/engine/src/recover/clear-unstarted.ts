import { existsSync } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { domainName } from '../host/definition.ts'
import type { Paths } from '../host/paths.ts'
import type { VmRecord } from '../host/record.ts'

/** The pattern is in the first lines. */
const HEAD_BYTES = 2048
/** The pid file of libvirt's QEMU driver itself. */
const LIBVIRTS_OWN = 'driver.pid'

/**
 * Removes libvirt's status of a QEMU that never started. A libvirtd that died between writing the
 * status and starting QEMU finds the file when it restarts, believes forever that the domain is
 * starting, and lets no one start or stop it. So the file must be removed while libvirtd is down.
 */
export async function clearUnstarted(
  { qemuPids }: Paths,
  records: readonly VmRecord[],
): Promise<void> {
  const names = new Set(await readdir(qemuPids).catch(() => []))
  for (const record of records) {
    const domain = domainName(record)
    if (!names.has(`${domain}.xml`)) continue
    const status = join(qemuPids, `${domain}.xml`)
    if (!/^<domstatus [^>]*\bpid='0'/m.test(await readHead(status))) continue
    for (const file of [join(qemuPids, `${domain}.pid`), status]) await rm(file, { force: true })
  }
  await clearPids(qemuPids, names)
}

/**
 * Removes pid files of dead processes for which libvirt has no status file: a libvirtd that dies
 * while it stops a domain may have removed only the status. A starting domain gets its status file
 * before its pid file.
 */
async function clearPids(qemuPids: string, names: ReadonlySet<string>): Promise<void> {
  for (const name of names) {
    if (!name.endsWith('.pid') || name === LIBVIRTS_OWN) continue
    if (names.has(name.replace(/\.pid$/, '.xml'))) continue
    const pid = (await readHead(join(qemuPids, name))).trim()
    if (/^\d+$/.test(pid) && existsSync(`/proc/${pid}`)) continue
    await rm(join(qemuPids, name), { force: true })
  }
}

async function readHead(file: string): Promise<string> {
  try {
    await using handle = await open(file, 'r')
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES))
    return buffer.toString('utf8', 0, bytesRead)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
