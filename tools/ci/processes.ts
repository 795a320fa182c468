// Ends a job, or one process, with everything that it started.
import { setTimeout as sleep } from 'node:timers/promises'

import { allPids, parentOf, signalTo } from '../lab/src/system/processes.ts'

/** Time for a job to clean up what would outlive it, such as a lab that a script started. */
const FAREWELL_MS = 30_000
const LOOK_MS = 50

/** Kills a job's process group, and processes that left the group: servers of a lab lead their own sessions. */
export async function endJob(leader: number): Promise<void> {
  const others = descendants(leader)
  const deadline = performance.now() + FAREWELL_MS
  // The leader ends at once; a script in its group that removes its lab takes longer.
  for (let isThere = signalTo(-leader, 'SIGTERM'); isThere; isThere = signalTo(-leader, 0)) {
    if (performance.now() > deadline) break
    await sleep(LOOK_MS)
  }
  for (const pid of new Set([...others, ...descendants(leader)])) signalTo(pid, 'SIGKILL')
  signalTo(-leader, 'SIGKILL')
}

/** Kills a process and everything below it at once. */
export function killTree(pid: number): void {
  for (const each of [pid, ...descendants(pid)]) signalTo(each, 'SIGKILL')
}

function descendants(of: number): number[] {
  const parents = new Map(allPids().map((pid) => [pid, parentOf(pid)]))
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === of || isBelow(parent))
  }
  return [...parents.keys()].filter(isBelow)
}
