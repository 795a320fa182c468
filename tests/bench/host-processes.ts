import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type { Told } from './simulated-hosts.ts'

/** A process of simulated hosts in the network of a lab's switch. */
export interface HostProcess extends AsyncDisposable {
  readonly pid: number
  /** Resolves when the command was executed. */
  tell<T>(command: Told): Promise<T>
  /** Sends a command without waiting for the result. */
  leaveWord(command: Told): Promise<void>
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
  const hear = async () => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error('a process of simulated hosts ended; its words are above')
    return JSON.parse(value) as unknown
  }
  const say = (command: Told) => void child.stdin.write(`${JSON.stringify(command)}\n`)
  return {
    pid: child.pid ?? 0,
    async tell<T>(command: Told) {
      say(command)
      return (await hear()) as T
    },
    async leaveWord(command) {
      say(command)
      await hear()
    },
    fallSilent: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
