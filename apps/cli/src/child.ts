// The one place of the command line where a program is started: from an array, never by a shell.
import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'

import { Failure } from './failure.ts'

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const SAID_MAX = 2000

/** Runs a program with our own standard streams and answers its exit code. */
export async function runProgram(command: string, args: readonly string[]): Promise<number> {
  return (await run(command, args, 'inherit')).code
}

/** Runs a program that nobody sees; `hear` gets each line that it says, and a Failure its last one. */
export async function runQuietly(
  command: string,
  args: readonly string[],
  hear?: (line: string) => void,
): Promise<void> {
  const { code, said } = await run(command, args, ['ignore', 'ignore', 'pipe'], hear)
  if (code === 0) return
  const [last = ''] = said.trim().split('\n').slice(-1)
  throw new Failure('refused', `${command} ended with ${code}: ${last}`)
}

/**
 * Waits for the end of a program. Signals that we get are passed on to it, and it decides what comes of them: a daemon
 * ends in order, and we tidy up behind a builder.
 */
async function run(
  command: string,
  args: readonly string[],
  stdio: StdioOptions,
  hear?: (line: string) => void,
) {
  const child = spawn(command, [...args], { stdio })
  if (child.stderr && hear) createInterface({ input: child.stderr }).on('line', hear)
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-SAID_MAX)
  })
  const pass = (signal: NodeJS.Signals) => void child.kill(signal)
  for (const signal of PASSED_ON) process.on(signal, pass)
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    // As a shell tells of a program that a signal ended.
    return { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), said }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw new Failure('refused', `there is no program ${command} on this machine`, {
      cause,
      hint: 'install the Debian packages that Skerry needs; skerry doctor names them',
    })
  } finally {
    for (const signal of PASSED_ON) process.off(signal, pass)
  }
}
