import { isListening } from '../network/listening.ts'
import { killAndWait } from '../system/processes.ts'
import { SLOW_POLL_MS, until } from '../system/wait.ts'
// A server of the product as a process of a lab: a cell or a console.
import { findEngines, lastWords, startDaemon } from './daemon.ts'

const START_TIMEOUT_MS = 120_000

export interface LabServer {
  readonly name: string
  readonly url: string
  readonly log: string
  /** Its current pid; undefined while it is down. */
  readonly pid: number | undefined
  /** Starts it if it does not run, and returns when it listens. */
  start(): Promise<void>
  /** Stops it; default: with SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

export interface ServerProcess {
  readonly name: string
  readonly url: string
  /** The directory by which it is found again. */
  readonly dir: string
  readonly log: string
  readonly command: readonly string[]
  /** Its listener when it is up. */
  readonly ports: readonly number[]
  readonly netns: string
  readonly outlives: boolean
}

export function labServer({ name, url, dir, log, ...rest }: ServerProcess): LabServer {
  const { command, ports, netns, outlives } = rest
  const running = () => findEngines((other) => other === dir)
  return {
    name,
    url,
    log,
    get pid() {
      return running()[0]
    },
    async start() {
      if (running().length === 0) {
        startDaemon({ dir, log, command, netns, outlives, env: { HOME: '/root' } })
      }
      await until(
        `${name} should listen; see ${log}`,
        async () => {
          const [pid] = running()
          if (pid === undefined) throw new Error(`${name} ended: ${await lastWords(log)}`)
          return ports.every((port) => isListening(pid, port))
        },
        START_TIMEOUT_MS,
        SLOW_POLL_MS,
      )
    },
    async kill(signal = 'SIGKILL') {
      await killAndWait(running(), signal)
    },
  }
}
