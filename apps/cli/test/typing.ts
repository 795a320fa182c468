// A program on a pseudo-terminal, with simulated keys, for behaviour that only an interactive shell has.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'

const PATIENCE_MS = 120_000

export interface Typing extends AsyncDisposable {
  /** Presses keys. */
  type(keys: string): void
  /** All output since the last call, once it matches. */
  sees(wanted: RegExp): Promise<string>
}

export function startTyping(command: string, env: NodeJS.ProcessEnv): Typing {
  const child = spawn('script', ['-qfec', command, '/dev/null'], { env, stdio: 'pipe' })
  let screen = ''
  const heard = new EventTarget()
  child.stdout.on('data', (chunk: Buffer) => {
    screen += stripVTControlCharacters(chunk.toString())
    heard.dispatchEvent(new Event('more'))
  })
  const ended = once(child, 'close')
  return {
    type: (keys) => void child.stdin.write(keys),
    async sees(wanted) {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      while (!wanted.test(screen)) {
        await once(heard, 'more', { signal }).catch((cause: unknown) => {
          throw new Error(`${wanted} is not on the screen:\n${screen}`, { cause })
        })
      }
      const seen = screen
      screen = ''
      return seen
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
