import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type { HostCommand } from './simulated-hosts.ts'

/** A process of simulated hosts in the network of a lab's switch. */
export interface HostProcess extends AsyncDisposable {
  readonly pid: number
  /** Resolves when the command was executed. */
  send<T>(command: HostCommand): Promise<T>
  /** Its hosts become silent: no connection is closed, none is answered, as when a cable is pulled. */
  fallSilent(): void
  wake(): void
}

export function startHostProcess(netns: string): HostProcess {
  const program = `${import.meta.dirname}/simulated-hosts.ts`
  const enter = [`--net=/run/netns/${netns}`, '--', process.execPath, program]
  const child = spawn('nsenter', enter, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextResult = async () => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error('a process of simulated hosts ended; its output is above')
    return JSON.parse(value) as unknown
  }
  return {
    pid: child.pid ?? 0,
    async send<T>(command: HostCommand) {
      child.stdin.write(`${JSON.stringify(command)}\n`)
      return (await nextResult()) as T
    },
    fallSilent: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
