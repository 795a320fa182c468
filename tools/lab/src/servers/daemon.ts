// Servers on the machine itself, besides the hosts: start, find, stop.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

import { inNetworkNamed } from '../network/netns.ts'
import { findMarked, isAlive, killWithChildren } from '../system/processes.ts'
import { forgetSharedMemory } from '../system/shared-memory.ts'

/** The environment variable that marks a server; its value is the server's directory. */
export const ENGINE_MARK = 'SKERRY_LAB_ENGINE'

export interface DaemonOptions {
  /** The directory by which it is found again. */
  readonly dir: string
  readonly log: string
  readonly command: readonly string[]
  /** The user it runs as if we are root. */
  readonly user?: string
  /** The named network that it is in. Default: the machine's own. */
  readonly netns?: string
  /** Whether it keeps running when this program ends; otherwise this signal kills it then. */
  readonly outlives: boolean
  readonly deathSignal?: 'KILL' | 'QUIT'
  readonly env?: Readonly<Record<string, string>>
}

type Daemon = ChildProcess & { readonly pid: number }

/** Servers that this program started, with their directories: the marker cannot be read while a process executes a new program. */
const ours = new Map<Daemon, string>()

/** Node's compile cache, if it is set: it halves the start time of our servers. */
export function compileCache(): Readonly<Record<string, string>> {
  const directory = process.env['NODE_COMPILE_CACHE']
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: directory }
}

/** Starts a server. The child's pid is the server's own. */
export function startDaemon(options: DaemonOptions): Daemon {
  const { dir, command, outlives, deathSignal = 'KILL' } = options
  const death = outlives ? [] : ['--pdeathsig', deathSignal]
  const prefix = [...asUser(options.user), ...death]
  const confined = prefix.length === 0 ? command : ['setpriv', ...prefix, '--', ...command]
  const [program = '', ...args] = inNetworkNamed(options.netns, confined)
  const log = openSync(options.log, 'a', 0o600)
  const child = spawn(program, args, {
    cwd: dir,
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LC_ALL: 'C.UTF-8',
      ...compileCache(),
      ...options.env,
      [ENGINE_MARK]: dir,
    },
  })
  closeSync(log)
  child.unref()
  if (child.pid === undefined) throw new Error(`${command[0]} did not start: is it installed?`)
  const daemon = child as Daemon
  ours.set(daemon, dir)
  daemon.once('exit', () => ours.delete(daemon))
  return daemon
}

/** The arguments for setpriv to become a user; none if we are not root. */
export function asUser(user: string | undefined): string[] {
  return user === undefined || process.getuid?.() !== 0
    ? []
    : ['--reuid', user, '--regid', user, '--clear-groups']
}

/** The servers with one of these directories. */
export function findEngines(accepts: (directory: string) => boolean): number[] {
  const started = [...ours].flatMap(([{ pid }, dir]) => (accepts(dir) && isAlive(pid) ? [pid] : []))
  return [...new Set([...started, ...findMarked(accepts, ENGINE_MARK)])]
}

/** Kills every server below a directory, and waits until the kernel has released their resources. */
export async function killEngines(below: string): Promise<void> {
  const found = () => findEngines((dir) => dir === below || dir.startsWith(`${below}/`))
  // A dying server may have started another process while we looked.
  for (let pids = found(); pids.length > 0; pids = found()) {
    // PostgreSQL's children overwrite their environment with their title, and with it the marker.
    await killWithChildren(pids)
    await forgetSharedMemory(pids)
  }
}

/** The end of a server's log, for the error message of a failed start. */
export async function lastWords(log: string, lines = 12): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-lines).join('\n') || `${log} is empty`
}
