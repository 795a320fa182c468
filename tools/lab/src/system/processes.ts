// Information from /proc about processes and their namespaces.
// Nothing here trusts a pid file: pids are reused, and a file survives the process that it names.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

import { until } from './wait.ts'

/** The environment variable that marks the first process of a host; its value is the host's directory. */
export const HOST_MARK = 'SKERRY_LAB_HOST'

/** A server that must stop may have guests to stop first. */
const GONE_TIMEOUT_MS = 90_000

export function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** A zombie holds no file, no lock, no port and no namespace. */
export function isAlive(pid: number): boolean {
  // Read once: a zombie may be reaped between two looks, and must not count as alive for that.
  const status = statusOf(pid)
  if (status === undefined) return false
  // Its first thread may be gone while others still hold all of that. One that is being reaped has none.
  return !/^[ZX]/.test(fieldOf(status, 'State') ?? '') || Number(fieldOf(status, 'Threads')) > 1
}

/** The kernel's name of a process's namespace, or undefined if the process is gone. */
export function namespaceOf(pid: number | 'self', kind: 'net' | 'pid' | 'mnt'): string | undefined {
  return quietly(() => readlinkSync(`/proc/${pid}/ns/${kind}`))
}

/** Marked processes whose directory the given test accepts, no matter who started them. Default: first processes of hosts. */
export function findMarked(accepts: (directory: string) => boolean, mark = HOST_MARK): number[] {
  return allPids().filter((pid) => {
    const environment = quietly(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? ''
    const found = environment.split('\0').find((entry) => entry.startsWith(`${mark}=`))
    if (found === undefined) return false
    const directory = Buffer.from(found.slice(mark.length + 1), 'latin1').toString()
    return accepts(directory) && isAlive(pid)
  })
}

/** Whether a process is the first one of a pid namespace below ours. */
export function isFirst(pid: number): boolean {
  const numbers = statusField(pid, 'NSpid')?.split(/\s+/) ?? []
  return numbers.length > 1 && numbers.at(-1) === '1'
}

/** Processes in one of the given network namespaces; never those of our own network. */
export function findInNetworks(networks: ReadonlySet<string | undefined>): number[] {
  const own = namespaceOf('self', 'net')
  return allPids().filter((pid) => {
    const network = namespaceOf(pid, 'net')
    return network !== undefined && network !== own && networks.has(network) && isAlive(pid)
  })
}

/** The outside pid of the process that has the pid `inside` on a host. */
export function fromInside(init: number, inside: number): number | undefined {
  const home = namespaceOf(init, 'pid')
  if (home === undefined) return undefined
  return allPids().find(
    (pid) =>
      statusField(pid, 'NSpid')?.split(/\s+/).at(-1) === String(inside) &&
      namespaceOf(pid, 'pid') === home,
  )
}

export function nameOf(pid: number): string | undefined {
  return quietly(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim())
}

/** The program of a process and its arguments; empty if it is gone. */
export function commandOf(pid: number): string[] {
  const words = quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? ''
  return words.split('\0').filter(Boolean)
}

export function childrenOf(parent: number): number[] {
  const children = quietly(() => readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1'))
  return (children ?? '').split(' ').filter(Boolean).map(Number)
}

export function parentOf(pid: number): number | undefined {
  const parent = statusField(pid, 'PPid')
  return parent === undefined ? undefined : Number(parent)
}

/** Sends a signal; ignores that the process is already gone. */
export function signalTo(pid: number, signal: NodeJS.Signals | number): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** Kills the processes and waits until the kernel has released their resources. Calls `urge` repeatedly meanwhile. */
export async function killAndWait(
  pids: readonly number[],
  signal: NodeJS.Signals = 'SIGKILL',
  urge: () => void = () => undefined,
): Promise<void> {
  for (const pid of pids) signalTo(pid, signal)
  const gone = () => {
    if (!pids.some(isAlive)) return true
    urge()
    return false
  }
  await until(`the processes ${pids.join(', ')} should be gone`, gone, GONE_TIMEOUT_MS)
}

/** Kills the processes with their children. Stopped first, none can start another child meanwhile. */
export async function killWithChildren(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signalTo(pid, 'SIGSTOP')
  await killAndWait([...pids, ...pids.flatMap(childrenOf)])
}

function statusField(pid: number, field: string): string | undefined {
  const status = statusOf(pid)
  return status === undefined ? undefined : fieldOf(status, field)
}

const statusOf = (pid: number): string | undefined =>
  quietly(() => readFileSync(`/proc/${pid}/status`, 'latin1'))

const fieldOf = (status: string, field: string): string | undefined =>
  status.match(new RegExp(`^${field}:\\s*(.*)$`, 'm'))?.[1]

/** A process may end between two looks at it, so unreadable data counts as missing. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
