// A server of ours as a process of a lab: a cell or a console.
import { findEngines, lastWords, startDaemon } from './daemon.ts'
import { isListening } from './listening.ts'
import { killAndWait } from './processes.ts'
import { until } from './wait.ts'

const START_TIMEOUT_MS = 120_000

export interface LabServer {
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

export interface ServerProcess {
  readonly name: string
  readonly url: string
  /** The directory by which it is found again. */
  readonly dir: string
  readonly log: string
  readonly command: readonly string[]
  /** Where it listens when it is up. */
  readonly ports: readonly number[]
  readonly netns: string
  readonly outlives: boolean
}

export function labServer({ name, url, dir, log, ...rest }: ServerProcess): LabServer {
  const { command, ports, netns, outlives } = rest
  const running = () => findEngines((other) => other === dir)
  return {
    ...{ name, url, log },
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
      )
    },
    async kill(signal = 'SIGKILL') {
      await killAndWait(running(), signal)
    },
  }
}
