// vmd on a host of the lab, started as the machine's init would start it.
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { existsSync, openSync, closeSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { compileCache } from '../servers/daemon.ts'
import { isAlive, killAndWait } from '../system/processes.ts'
import { SLOW_POLL_MS, until } from '../system/wait.ts'

export const VMD_PROGRAM = join(import.meta.dirname, '../../../../apps/vmd/src/main.ts')
const START_TIMEOUT_MS = 60_000
export const VMD_URL = 'http://127.0.0.1:8080'

/** A host as far as a vmd on it needs it. */
export interface VmdHost {
  readonly name: string
  readonly dir: string
  spawn(command: readonly string[], options?: SpawnOptions): ChildProcess
  run(command: readonly string[]): Promise<{ readonly code: number | null }>
}

export interface VmdReport {
  readonly pid: number
  /** Inside the host: use `ip netns exec NETNS curl`. */
  readonly url: string
  readonly log: string
}

const pidFile = (dir: string): string => join(dir, 'vmd.pid')
const logFile = (dir: string): string => join(dir, 'log', 'vmd.log')
/** Exists if vmd starts with the host; its arguments, one per line. */
const wantedFile = (dir: string): string => join(dir, 'vmd.wanted')

export const wantsVmd = ({ dir }: { readonly dir: string }): boolean => existsSync(wantedFile(dir))

export async function wantVmd(
  host: { readonly dir: string },
  words: readonly string[] = wordsOf(host),
): Promise<void> {
  await writeFile(wantedFile(host.dir), words.join('\n'), { mode: 0o600 })
}

function wordsOf(host: { readonly dir: string }): string[] {
  if (!wantsVmd(host)) return []
  return readFileSync(wantedFile(host.dir), 'utf8')
    .split('\n')
    .filter((word) => word !== '')
}

/** The vmd that runs on the host now. */
export function readVmd({ dir }: { readonly dir: string }): VmdReport | undefined {
  const pid = Number(existsSync(pidFile(dir)) ? readFileSync(pidFile(dir), 'utf8') : 0)
  if (pid === 0 || !isAlive(pid) || !isVmd(pid)) return undefined
  return { pid, url: VMD_URL, log: logFile(dir) }
}

/** Starts vmd if it does not run, and waits until it responds. */
export async function startVmd(host: VmdHost): Promise<VmdReport> {
  const running = readVmd(host)
  if (running) return running
  const log = openSync(logFile(host.dir), 'a', 0o600)
  try {
    const child = host.spawn([process.execPath, VMD_PROGRAM, ...wordsOf(host)], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', ...compileCache() },
    })
    await writeFile(pidFile(host.dir), String(child.pid), { mode: 0o600 })
    child.unref()
  } finally {
    closeSync(log)
  }
  const asks = ['curl', '-sf', '-o', '/dev/null', `${VMD_URL}/api/vms`]
  return until(
    `vmd on ${host.name} should answer; see ${logFile(host.dir)}`,
    async () => ((await host.run(asks)).code === 0 ? readVmd(host) : undefined),
    START_TIMEOUT_MS,
    SLOW_POLL_MS,
  )
}

export async function killVmd(host: VmdHost, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const running = readVmd(host)
  if (running) await killAndWait([running.pid], signal)
  await rm(pidFile(host.dir), { force: true })
}

function isVmd(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(VMD_PROGRAM)
  } catch {
    return false
  }
}
