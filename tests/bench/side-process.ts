import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface SideProcess extends AsyncDisposable {
  readonly pid: number
  /** What it said when it was ready. */
  readonly line: string
}

/** A file of this directory as a process of its own, which says one line when it is ready, and ends with its input. */
export async function startProcess(
  file: string,
  words: readonly string[] = [],
): Promise<SideProcess> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/${file}`, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    ...{ pid: child.pid ?? 0, line },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
