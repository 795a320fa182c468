import { existsSync } from 'node:fs'
import { open, readdir, readFile, rm } from 'node:fs/promises'
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
export async function clearUnstarted(paths: Paths, records: readonly VmRecord[]): Promise<void> {
  const { qemuPids } = paths
  const names = new Set(await readdir(qemuPids).catch(() => []))
  for (const record of records) {
    const domain = domainName(record)
    if (!names.has(`${domain}.xml`)) continue
    const status = join(qemuPids, `${domain}.xml`)
    if (!/^<domstatus [^>]*\bpid='0'/m.test(await readHead(status))) continue
    for (const file of [join(qemuPids, `${domain}.pid`), status]) await rm(file, { force: true })
  }
  for (const name of names) {
    if (name.endsWith('.pid') && name !== LIBVIRTS_OWN) await clearPid(paths, name.slice(0, -4))
  }
}

/**
 * Removes the pid file of a domain that does not run: a libvirtd that dies while it stops a domain
 * may have removed only the status. While libvirtd is up, the caller holds the VM's lock: when it
 * was lost, the process may still have been ending, or about to write the file, which libvirt's
 * child does after the status, also when its parent is gone.
 */
export async function clearPid({ qemuPids }: Paths, domain: string): Promise<void> {
  const file = join(qemuPids, `${domain}.pid`)
  if (!existsSync(file) || (await namesQemu(file, domain))) return
  // A start writes the status before the pid file.
  if (!existsSync(join(qemuPids, `${domain}.xml`))) await rm(file, { force: true })
}

/** Removes the pid file of a domain that was destroyed: a QEMU that it names is ending. */
export const removePid = ({ qemuPids }: Paths, domain: string): Promise<void> =>
  rm(join(qemuPids, `${domain}.pid`), { force: true })

/** The kernel gives numbers of processes again, so the process has to be this domain's QEMU. */
async function namesQemu(pidFile: string, domain: string): Promise<boolean> {
  const pid = (await readHead(pidFile)).trim()
  if (!/^\d+$/.test(pid)) return false
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return words.split('\0').some((word) => `${word},`.startsWith(`guest=${domain},`))
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
