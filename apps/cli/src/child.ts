// The one place of the command line where a program is started: from an array, never by a shell.
import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

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

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The environment that is handed to a program in place of ours. */
export type Environment = Readonly<Record<string, string>>

/**
 * Runs a program that dies with us, even when we are killed, so that whoever comes after us never meets it still at work. Answers what
 * it said, whatever its exit code; `hear` gets each line of its standard error as it comes.
 */
export async function askProgram(
  command: readonly string[],
  how: { readonly input?: string; readonly env?: Environment; readonly hear?: Hear } = {},
): Promise<Outcome> {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(how.env && { env: how.env }),
  })
  // One that ends without reading all of it says why by its exit code.
  child.stdin.on('error', () => undefined)
  child.stdin.end(how.input ?? '')
  if (how.hear) createInterface({ input: child.stderr }).on('line', how.hear)
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code: code ?? 128, out, err }
}
type Hear = (line: string) => void

/** Starts a server that goes on without us and writes to a log; the answer is its pid. */
export function startDetached(
  command: readonly string[],
  { log, env }: { readonly log: string; readonly env: Environment },
): number {
  const [program = '', ...args] = command
  const file = openSync(log, 'a', 0o600)
  try {
    const child = spawn(program, args, {
      ...{ cwd: '/', env, detached: true, stdio: ['ignore', file, file] },
    })
    child.unref()
    if (child.pid === undefined) throw new Failure('refused', `${program} did not start`)
    return child.pid
  } finally {
    closeSync(file)
  }
}
