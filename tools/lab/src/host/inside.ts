// Starts programs on a host, as a login would.
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { spawn } from 'node:child_process'

import { childrenOf, isAlive, signalTo } from '../system/processes.ts'

/** Only ends a wait that would hang: without the pid, a kill would reach `nsenter` instead of the program. */
const FORK_TIMEOUT_MS = 60_000

/**
 * Starts a program in the namespaces of a host's first process. A process cannot enter a pid namespace, only its children can, so
 * `nsenter` stays as the program's parent outside. The returned child represents the program itself: its pid and kill are the
 * program's, and it ends as the program ends.
 */
export function spawnInside(
  init: number,
  command: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const { cwd, ...rest } = options
  const enter = [
    '-t',
    String(init),
    '-m',
    '-n',
    '-p',
    '-u',
    '-i',
    `--wdns=${cwd?.toString() ?? '/'}`,
  ]
  const child = spawn('nsenter', [...enter, '--', ...command], rest)
  const wrapper = child.pid
  const inner = wrapper === undefined ? undefined : bornOf(wrapper)
  if (wrapper === undefined || inner === undefined) return child

  Object.defineProperty(child, 'pid', { value: inner })
  child.kill = (signal = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return false
    const sent = signalTo(inner, signal)
    // nsenter stops when the program does, and must be continued with it, or it would never report the end.
    if (signal === 'SIGCONT') signalTo(wrapper, signal)
    return sent && (Object.assign(child, { killed: true }), true)
  }
  return child
}

/** Blocks for the few milliseconds until nsenter has forked, so that the pid is correct at once. */
function bornOf(wrapper: number): number | undefined {
  const deadline = performance.now() + FORK_TIMEOUT_MS
  const pause = new Int32Array(new SharedArrayBuffer(4))
  while (isAlive(wrapper) && performance.now() < deadline) {
    const [born] = childrenOf(wrapper)
    if (born !== undefined) return born
    Atomics.wait(pause, 0, 0, 1)
  }
  return undefined
}
