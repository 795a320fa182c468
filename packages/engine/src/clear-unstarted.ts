import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { domainName } from './definition.ts'
import type { Paths } from './paths.ts'
import type { VmRecord } from './record.ts'

/** What we look for stands in the first lines. */
const HEAD_BYTES = 2048

/**
 * Takes away what libvirt wrote down of a QEMU that never came to be. A libvirtd that dies between
 * the two and finds this when it comes back believes for ever that the domain is being started,
 * and lets nobody start or stop it. So this must be done while libvirtd is away.
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
