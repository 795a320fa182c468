// Ends a job with everything that it started.
import { setTimeout as sleep } from 'node:timers/promises'

import { allPids, parentOf, signalTo } from '../lab/src/system/processes.ts'

/** Time for a job to clean up what would outlive it, such as a lab that a script started. */
const FAREWELL_MS = 10_000

/** Kills a job's process group, and processes that left the group: servers of a lab lead their own sessions. */
export async function endJob(leader: number, hasEnded: Promise<unknown>): Promise<void> {
  const others = descendants(leader)
  signalTo(-leader, 'SIGTERM')
  await Promise.race([hasEnded, sleep(FAREWELL_MS, undefined, { ref: false })])
  for (const pid of new Set([...others, ...descendants(leader)])) signalTo(pid, 'SIGKILL')
  signalTo(-leader, 'SIGKILL')
}

function descendants(of: number): number[] {
  const parents = new Map(allPids().map((pid) => [pid, parentOf(pid)]))
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === of || isBelow(parent))
  }
  return [...parents.keys()].filter(isBelow)
}
