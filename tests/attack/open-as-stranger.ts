// Run as root where the files are: lists every path below some directories and in every command line, switches to another user,
// and tries to open each of them. Prints what it opened. Arguments: the uid; `all`, or the directory that processes must have in
// their environment to count; then the directories.
import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join, normalize } from 'node:path'

export interface Opened {
  readonly path: string
  readonly kind: 'file' | 'directory' | 'socket' | 'other'
  readonly way: 'read' | 'write' | 'list' | 'connect'
}
export interface Report {
  /** The number of tried paths, by type. */
  readonly tried: Readonly<Record<Opened['kind'], number>>
  readonly opened: readonly Opened[]
}

/** Programs and settings of the distribution that everyone may read, and the kernel's file systems. */
const PUBLIC =
  /^\/((usr|lib|lib64|bin|sbin|etc|dev|proc|sys|opt)(\/.*)?|var(\/lib)?|tmp|home|root)?$/
/** The directories of this program and of the servers. */
const PROGRAMS = join(import.meta.dirname, '../..')
const CONNECT_MS = 2000

function below(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? [path, ...quietly(() => below(path), [])] : [path]
  })
}

/** Every word of every command line that may be a path, without the surrounding option or JSON syntax. */
function inCommandLines(pids: readonly string[]): string[] {
  return pids
    .map((pid) => quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), ''))
    .flatMap((line) => line.match(/\/[^\s"',=:;\0]+/g) ?? [])
    .map((path) => normalize(path))
    .filter((path) => !PUBLIC.test(path) && !path.startsWith(`${PROGRAMS}/`))
    .filter((path) => whose === 'all' || directories.some((one) => path.startsWith(one)))
}

function quietly<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}

function kindOf(path: string): Opened['kind'] | undefined {
  const found = quietly(() => lstatSync(path), undefined)
  if (found === undefined || found.isSymbolicLink()) return undefined
  if (found.isFile()) return 'file'
  if (found.isDirectory()) return 'directory'
  return found.isSocket() ? 'socket' : 'other'
}

function opens(path: string, flags: number): boolean {
  return quietly(() => {
    closeSync(openSync(path, flags | constants.O_NONBLOCK | constants.O_NOCTTY))
    return true
  }, false)
}

const connects = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(path)
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.setTimeout(CONNECT_MS, () => end(false))
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })

const [uid = '', whose = '', ...directories] = process.argv.slice(2)
const counts = (pid: string) =>
  whose === 'all' ||
  quietly(() => readFileSync(`/proc/${pid}/environ`, 'latin1'), '').includes(whose)
const pids = readdirSync('/proc').filter(
  (name) => /^\d+$/.test(name) && Number(name) !== process.pid && counts(name),
)
const paths = new Set([
  ...directories.flatMap((directory) => [directory, ...below(directory)]),
  ...inCommandLines(pids),
  ...pids.map((pid) => `/proc/${pid}/environ`),
])
const all = [...paths].flatMap((path) => {
  const kind = kindOf(path)
  return kind === undefined ? [] : [{ path, kind }]
})
process.setgroups?.([])
process.setgid?.(Number(uid))
process.setuid?.(Number(uid))
const opened: Opened[] = []
const tried = { file: 0, directory: 0, socket: 0, other: 0 }
for (const { path, kind } of all) {
  tried[kind] += 1
  if (kind === 'directory') {
    if (quietly(() => Array.isArray(readdirSync(path)), false))
      opened.push({ path, kind, way: 'list' })
  } else if (kind === 'socket') {
    if (await connects(path)) opened.push({ path, kind, way: 'connect' })
  } else {
    if (opens(path, constants.O_RDONLY)) opened.push({ path, kind, way: 'read' })
    if (opens(path, constants.O_WRONLY)) opened.push({ path, kind, way: 'write' })
  }
}
process.stdout.write(JSON.stringify({ tried, opened } satisfies Report))
