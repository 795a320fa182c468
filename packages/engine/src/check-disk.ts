import { rm, stat, writeFile } from 'node:fs/promises'

import type { Host } from './host.ts'
import { openedFile } from './paths.ts'
import type { VmRecord } from './record.ts'
import { runTool } from './tool.ts'

const CHECK_TIMEOUT_MS = 3_600_000

/** To be called before a VM's disk is opened for writing: until it is checked, it may have been cut off in the middle. */
export async function noteOpened({ paths }: Host, record: VmRecord): Promise<void> {
  await writeFile(openedFile(paths, record), '')
}

/**
 * Gives back the clusters that nobody uses because their writer died first. All else QEMU writes
 * in an order that a crash cannot hurt. One disk at a time: after a power cut there may be many.
 */
export async function checkDisk(host: Host, record: VmRecord, top: string): Promise<void> {
  const opened = openedFile(host.paths, record)
  if (!(await stat(opened).catch(() => undefined))) return
  await host.turns.take('check of a disk', () =>
    runTool('qemu-img', ['check', '-q', '-f', 'qcow2', '-r', 'leaks', top], {
      timeoutMs: CHECK_TIMEOUT_MS,
    }),
  )
  await rm(opened, { force: true })
}
