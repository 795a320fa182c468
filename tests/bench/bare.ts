import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The bare engine in a process that lives as long as the run, so that its start is never measured. */
export interface Bare extends AsyncDisposable {
  /** Does one thing of bare.py; the answer is usually how many seconds it took. */
  ask<T = number>(work: string, ...args: readonly unknown[]): Promise<T>
}

export function startBare(): Bare {
  // Debian's own Python: another one that is first in PATH does not have Debian's modules.
  const child = spawn('/usr/bin/python3', [`${import.meta.dirname}/bare.py`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async ask<T>(work: string, ...args: readonly unknown[]): Promise<T> {
      child.stdin.write(`${JSON.stringify({ do: work, args })}\n`)
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`python3-libvirt gave up at ${work}; its words are above`)
      return (JSON.parse(value) as { value: T }).value
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
