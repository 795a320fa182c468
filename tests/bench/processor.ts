import { readFileSync } from 'node:fs'

/** sysconf(_SC_CLK_TCK), the same on every Linux that Debian makes. */
const TICKS_PER_SECOND = 100

/** The CPU time of a process so far; with its reaped children, if it works by children. */
export function processorSeconds(pid: number, { children = false } = {}): number {
  const status = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, children ? 15 : 13).reduce((sum, each) => sum + Number(each), 0)
  return ticks / TICKS_PER_SECOND
}

/** The same for a server and all processes that it has now or had before. */
export function serverSeconds(pid: number): number {
  const own = processorSeconds(pid, { children: true })
  return childrenOf(pid).reduce((sum, child) => sum + secondsOrNone(child), own)
}

/** The pids of the children that it has now. */
export function childrenOf(pid: number): number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return listed.split(' ').filter(Boolean).map(Number)
}

/** A process that ends meanwhile is counted by its parent. */
function secondsOrNone(pid: number): number {
  try {
    return processorSeconds(pid)
  } catch {
    return 0
  }
}
