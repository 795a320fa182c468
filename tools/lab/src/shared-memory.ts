// Shared memory of the old kind, which stays in the kernel when the server that made it is killed.
import { readFileSync } from 'node:fs'

import { attempt } from './run.ts'

/** Takes away what these processes had made. It goes once the last process that still uses it has ended. */
export async function forgetSharedMemory(makers: readonly number[]): Promise<void> {
  const [, ...lines] = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n')
  for (const line of lines) {
    const [, id, , , maker] = line.trim().split(/\s+/).map(Number)
    // Whoever is outside of our process namespace has the number 0.
    if (maker !== undefined && maker > 0 && makers.includes(maker))
      await attempt(['ipcrm', '-m', String(id)])
  }
}
