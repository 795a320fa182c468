// A window: ports of a closed network's loopback, visible on the machine at the same addresses and port numbers.
// It consists of two relays, one on each side of a socket in the file system, which both networks see. No link joins the networks.
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { isListening } from '../network/listening.ts'
import { killAndWait } from '../system/processes.ts'
import { until } from '../system/wait.ts'
import { findEngines, lastWords, startDaemon } from './daemon.ts'

const PROGRAM = join(import.meta.dirname, 'window-main.ts')
const START_TIMEOUT_MS = 60_000

export interface WindowOptions {
  /** The named network whose ports are made visible. */
  readonly netns: string
  readonly ports: readonly number[]
  /** Ports at another loopback address than 127.0.0.1. */
  readonly elsewhere?: readonly { readonly address: string; readonly port: number }[]
  /** Whether it keeps running when this program ends; otherwise it dies with it. */
  readonly outlives?: boolean
}

/** Short, because the path of a socket is limited: the last number of a loopback address is enough. */
export const paneOf = (directory: string, address: string, port: number): string =>
  join(directory, `${address.split('.').at(-1)}-${port}.sock`)

/** Opens a window that keeps its sockets in its own directory; one that is open there is reused. */
export async function openWindow(
  directory: string,
  { netns, ports, elsewhere = [], outlives = false }: WindowOptions,
): Promise<AsyncDisposable> {
  await mkdir(directory, { recursive: true })
  const dir = realpathSync(directory)
  const all = [...ports.map((port) => ({ address: '127.0.0.1', port })), ...elsewhere]
  const sides = findEngines((other) => other === dir)
  const close = async () => killAndWait(findEngines((other) => other === dir))
  if (sides.length === 2) return { [Symbol.asyncDispose]: close }
  await killAndWait(sides)
  await rm(join(dir, 'open'), { force: true })
  const start = async (side: 'inner' | 'outer', isOpen: (pid: number) => boolean) => {
    const log = join(dir, `${side}.log`)
    const child = startDaemon({
      dir,
      log,
      outlives,
      command: [
        process.execPath,
        PROGRAM,
        side,
        dir,
        ...all.map(({ address, port }) => `${address}:${port}`),
      ],
      ...(side === 'inner' && { netns }),
    })
    const opened = async () => {
      if (child.exitCode === null) return isOpen(child.pid)
      throw new Error(`the window's ${side} side did not open: ${await lastWords(log)}`)
    }
    const what = `the ${side} side of the window should be open; see ${log}`
    await until(what, opened, START_TIMEOUT_MS)
  }
  await start('inner', () => existsSync(join(dir, 'open')))
  await start('outer', (pid) => all.every(({ port }) => isListening(pid, port)))
  return { [Symbol.asyncDispose]: close }
}
