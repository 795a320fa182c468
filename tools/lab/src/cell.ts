// A cell of a lab's cloud, in the network of the lab's switch.
import { join } from 'node:path'

import type { CellPlan } from './cloud-plan.ts'
import { findEngines, lastWords, startDaemon } from './daemon.ts'
import { isListening } from './listening.ts'
import { killAndWait } from './processes.ts'
import { until } from './wait.ts'

export const CLOUD_PROGRAM = join(import.meta.dirname, '../../../apps/cloud/src/main.ts')
const START_TIMEOUT_MS = 120_000

export interface LabCell {
  readonly name: string
  readonly url: string
  readonly log: string
  /** Its pid now; undefined while it is down. */
  readonly pid: number | undefined
  /** Starts it where it does not run, and answers when it listens. */
  start(): Promise<void>
  /** Ends it, at once unless told otherwise. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

export function labCell(
  { name, dir, config, url, port, machines }: CellPlan,
  { netns, outlives }: { readonly netns: string; readonly outlives: boolean },
): LabCell {
  const log = join(dir, 'cell.log')
  const running = () => findEngines((other) => other === dir)
  return {
    ...{ name, url, log },
    get pid() {
      return running()[0]
    },
    async start() {
      if (running().length === 0) {
        const command = [process.execPath, CLOUD_PROGRAM, 'serve', '--config', config]
        startDaemon({ dir, log, command, netns, outlives, env: { HOME: '/root' } })
      }
      await until(
        `${name} should listen; see ${log}`,
        async () => {
          const [pid] = running()
          if (pid === undefined) throw new Error(`${name} ended: ${await lastWords(log)}`)
          return isListening(pid, port) && isListening(pid, machines.port)
        },
        START_TIMEOUT_MS,
      )
    },
    async kill(signal = 'SIGKILL') {
      await killAndWait(running(), signal)
    },
  }
}
