import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface SideProcess extends AsyncDisposable {
  readonly pid: number
  /** The line that it printed when it was ready. */
  readonly line: string
}

export interface TalkingProcess extends SideProcess {
  /** Its next line. */
  hear(): Promise<string>
}

/** A file of this directory in its own process, which prints one line when it is ready, and ends with its input. */
export async function startProcess(
  file: string,
  words: readonly string[] = [],
): Promise<SideProcess> {
  return startTalkingProcess(file, words)
}

/** One that continues to print lines. */
export async function startTalkingProcess(
  file: string,
  words: readonly string[] = [],
): Promise<TalkingProcess> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/${file}`, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const hear = async (): Promise<string> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`${file} ended before it had said all`)
    return value
  }
  return {
    pid: child.pid ?? 0,
    line: await hear(),
    hear,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
