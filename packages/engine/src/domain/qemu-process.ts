import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import type { Host } from '../host/host.ts'

/** The process id of a domain's QEMU, from libvirt's pid file; undefined if it does not run. */
async function pidOf({ paths }: Host, domain: string): Promise<string | undefined> {
  const file = join(paths.qemuPids, `${domain}.pid`)
  return (await unlessGone(readFile(file, 'utf8')))?.trim()
}

/** Identifies one run of a QEMU process by the kernel's boot id, the process id and its start time. */
export async function readBoot(host: Host, domain: string): Promise<string | null> {
  const pid = await pidOf(host, domain)
  const status =
    pid === undefined ? undefined : await unlessGone(readFile(`/proc/${pid}/stat`, 'utf8'))
  if (pid === undefined || status === undefined) return null
  const kernel = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
  // The program name is in parentheses and may contain blanks; the start time is the 20th field after it.
  const started = status.slice(status.lastIndexOf(')') + 2).split(' ')[19]
  const life = `${kernel.trim()} ${pid} ${started}`
  return createHash('sha256').update(life).digest('hex').slice(0, 32)
}

/** The user of the domain's QEMU process, regardless of libvirt's configuration. */
export async function readQemuUser(
  host: Host,
  domain: string,
): Promise<{ uid: number; gid: number }> {
  const pid = await pidOf(host, domain)
  const user = pid === undefined ? undefined : await unlessGone(stat(`/proc/${pid}`))
  if (user) return { uid: user.uid, gid: user.gid }
  throw new Fault('conflict', `${domain} is not running`)
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
