import { rm, stat, writeFile } from 'node:fs/promises'

import type { Host } from '../host/host.ts'
import { openedFile } from '../host/paths.ts'
import { PRIVATE_FILE } from '../host/private-files.ts'
import type { VmRecord } from '../host/record.ts'
import { runTool } from '../host/tool.ts'

const CHECK_TIMEOUT_MS = 3_600_000

/** Call it before a VM's disk is opened for writing: the disk may be cut off mid-write until it is checked. */
export async function noteOpened({ paths }: Host, record: VmRecord): Promise<void> {
  await writeFile(openedFile(paths, record), '', { mode: PRIVATE_FILE })
}

/**
 * Frees clusters that leaked because their writer died first. QEMU orders all other writes so that
 * a crash does no damage. One disk at a time: after a power cut there may be many.
 */
export async function checkDisk(host: Host, record: VmRecord, top: string): Promise<void> {
  const opened = openedFile(host.paths, record)
  if (!(await stat(opened).catch(() => undefined))) return
  await host.locks.run('check of a disk', () =>
    runTool('qemu-img', ['check', '-q', '-f', 'qcow2', '-r', 'leaks', top], {
      timeoutMs: CHECK_TIMEOUT_MS,
    }),
  )
  await rm(opened, { force: true })
}
