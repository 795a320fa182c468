// Servers on the machine itself, beside the hosts: started, found again, ended.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

import { inNetworkNamed } from './netns.ts'
import { findMarked, isAlive, killAndWait } from './processes.ts'
import { forgetSharedMemory } from './shared-memory.ts'

/** The mark that a server bears in its environment; its value is the directory that the server keeps its things in. */
export const ENGINE_MARK = 'SKERRY_LAB_ENGINE'

export interface DaemonOptions {
  /** The directory by which it is found again. */
  readonly dir: string
  readonly log: string
  readonly command: readonly string[]
  /** The user it runs as when we are root. */
  readonly user?: string
  /** The named network that it is in; the machine's own unless told. */
  readonly netns?: string
  /** Whether it goes on when this program ends; otherwise it dies with it, by this signal. */
  readonly outlives: boolean
  readonly deathSignal?: 'KILL' | 'QUIT'
  readonly env?: Readonly<Record<string, string>>
}

type Daemon = ChildProcess & { readonly pid: number }

/** Those that this program started, with their directories: the mark cannot be read while a process becomes another program. */
const ours = new Map<Daemon, string>()

/** Starts a server. The child's pid is the server's own. */
export function startDaemon(options: DaemonOptions): Daemon {
  const { dir, command, outlives, deathSignal = 'KILL' } = options
  const death = outlives ? [] : ['--pdeathsig', deathSignal]
  const prefix = [...asUser(options.user), ...death]
  const confined = prefix.length === 0 ? command : ['setpriv', ...prefix, '--', ...command]
  const [program = '', ...args] = inNetworkNamed(options.netns, confined)
  const log = openSync(options.log, 'a')
  const child = spawn(program, args, {
    cwd: dir,
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LC_ALL: 'C.UTF-8',
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

/** What setpriv needs to hear to become a user; nothing when we are not root and could not. */
export function asUser(user: string | undefined): string[] {
  return user === undefined || process.getuid?.() !== 0
    ? []
    : ['--reuid', user, '--regid', user, '--clear-groups']
}

/** The servers that keep their things in one of these directories. */
export function findEngines(accepts: (directory: string) => boolean): number[] {
  const started = [...ours].flatMap(([{ pid }, dir]) => (accepts(dir) && isAlive(pid) ? [pid] : []))
  return [...new Set([...started, ...findMarked(accepts, ENGINE_MARK)])]
}

/** Ends every server below a directory at once, and waits until the kernel has taken back all they held. */
export async function killEngines(below: string): Promise<void> {
  const found = () => findEngines((dir) => dir === below || dir.startsWith(`${below}/`))
  // A dying server may have been starting another process while we looked.
  for (let pids = found(); pids.length > 0; pids = found()) {
    await killAndWait(pids)
    await forgetSharedMemory(pids)
  }
}

/** The end of what a server wrote, for the error that says it did not start. */
export async function lastWords(log: string, lines = 12): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-lines).join('\n') || `nothing is in ${log}`
}
