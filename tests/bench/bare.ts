import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The baseline engine in a process that lives as long as the run, so that its start is never measured. */
export interface Bare extends AsyncDisposable {
  /** Runs one command of bare.py; the result is usually a duration in seconds. */
  ask<T = number>(work: string, ...args: readonly unknown[]): Promise<T>
}

type Start = (command: readonly string[], options: SpawnOptions) => ChildProcess
const here: Start = ([program = '', ...words], options) => spawn(program, words, options)

/** `start`: the machine it runs on; default: this one. */
export function startBare(start: Start = here): Bare {
  // Debian's own Python: another one that is first in PATH does not have Debian's modules.
  const child = start(['/usr/bin/python3', `${import.meta.dirname}/bare.py`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('the bare engine has no line to us')
  const ended = once(child, 'exit')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    async ask<T>(work: string, ...args: readonly unknown[]): Promise<T> {
      stdin.write(`${JSON.stringify({ do: work, args })}\n`)
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`python3-libvirt gave up at ${work}; its words are above`)
      return (JSON.parse(value) as { value: T }).value
    },
    async [Symbol.asyncDispose]() {
      stdin.end()
      await ended
    },
  }
}
