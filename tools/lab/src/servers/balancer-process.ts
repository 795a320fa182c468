// The balancer as a process of a lab.
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { isListening } from '../network/listening.ts'
import { freePorts } from '../network/ports.ts'
import { killAndWait } from '../system/processes.ts'
import { until } from '../system/wait.ts'
import { findEngines, lastWords, startDaemon } from './daemon.ts'

const PROGRAM = join(import.meta.dirname, 'balancer-main.ts')
const START_TIMEOUT_MS = 60_000

export interface BalancerProcessOptions {
  readonly outlives?: boolean
  /** The port at its first start. Default: a free one. */
  readonly port?: number
  /** The loopback address. Default: 127.0.0.1. */
  readonly address?: string
  /** The named network that it is in. Default: the machine's own. */
  readonly netns?: string
}

export interface BalancerProcess extends AsyncDisposable {
  readonly port: number
  readonly pid: number
}

/** Starts a balancer that keeps its port and its log in its own directory; one that runs there is replaced. */
export async function startBalancerProcess(
  directory: string,
  targets: readonly { readonly host: string; readonly port: number }[],
  { outlives = false, port: wanted, address = '127.0.0.1', netns }: BalancerProcessOptions = {},
): Promise<BalancerProcess> {
  await mkdir(directory, { recursive: true })
  const dir = realpathSync(directory)
  const saved = join(dir, 'port')
  if (!existsSync(saved)) {
    await writeFile(saved, String(wanted ?? (await freePorts())), { mode: 0o600 })
  }
  const port = Number(await readFile(saved, 'utf8'))
  await killAndWait(findEngines((other) => other === dir))
  const log = join(dir, 'balancer.log')
  const names = targets.map((target) => `${target.host}:${target.port}`)
  const child = startDaemon({
    dir,
    log,
    command: [process.execPath, PROGRAM, address, String(port), ...names],
    outlives,
    ...(netns !== undefined && { netns }),
  })
  const isOpen = async () => {
    if (child.exitCode !== null)
      throw new Error(`the balancer did not start: ${await lastWords(log)}`)
    return isListening(child.pid, port)
  }
  await until(`the balancer should listen on ${port}`, isOpen, START_TIMEOUT_MS)
  return {
    port,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      await killAndWait([child.pid])
    },
  }
}
