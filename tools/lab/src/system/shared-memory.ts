// System V shared memory, which stays in the kernel when the server that created it is killed.
import { readFileSync } from 'node:fs'

import { attempt } from './run.ts'

interface Segment {
  readonly id: number
  /** The pid of the process that created it; 0 if that is outside of our pid namespace. */
  readonly maker: number
}

export function sharedMemory(): Segment[] {
  const [, ...lines] = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [, id = 0, , , maker = 0] = line.trim().split(/\s+/).map(Number)
    return { id, maker }
  })
}

/** Removes the segments that these processes created. Each is freed once the last process that uses it has ended. */
export async function forgetSharedMemory(makers: readonly number[]): Promise<void> {
  for (const { id, maker } of sharedMemory()) {
    if (maker > 0 && makers.includes(maker)) await attempt(['ipcrm', '-m', String(id)])
  }
}
