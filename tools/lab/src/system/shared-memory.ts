// System V shared memory, which stays in the kernel when the server that created it is killed.
import { readFileSync } from 'node:fs'

import { attempt } from './run.ts'

/** Removes the segments that these processes created. Each is freed once the last process that uses it has ended. */
export async function forgetSharedMemory(makers: readonly number[]): Promise<void> {
  const [, ...lines] = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n')
  for (const line of lines) {
    const [, id, , , maker] = line.trim().split(/\s+/).map(Number)
    // A process outside of our pid namespace has the pid 0.
    if (maker !== undefined && maker > 0 && makers.includes(maker))
      await attempt(['ipcrm', '-m', String(id)])
  }
}
