import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { domainName } from './definition.ts'
import type { Paths } from './paths.ts'
import type { VmRecord } from './record.ts'

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
  for (const domain of records.map(domainName)) {
    if (!names.has(`${domain}.xml`) || names.has(`${domain}.pid`)) continue
    const file = join(qemuPids, `${domain}.xml`)
    const status = await readFile(file, 'utf8').catch(() => '')
    if (/^<domstatus [^>]*\bpid='0'/m.test(status)) await rm(file, { force: true })
  }
}
