// The only place where the CLI starts programs: from an argument array, never through a shell.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

import { Failure } from '../terminal/failure.ts'

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const SAID_MAX = 2000
const FIRST_PIPE = 3

/** Runs a program with our own standard streams and returns its exit code. */
export async function runProgram(command: string, args: readonly string[]): Promise<number> {
  return (await run(command, args, 'inherit')).code
}

/** Runs a program without a terminal; `hear` gets each line of its standard error, and a Failure has the last one. */
export async function runQuietly(
  command: string,
  args: readonly string[],
  hear?: (line: string) => void,
): Promise<void> {
  const { code, said } = await run(command, args, ['ignore', 'ignore', 'pipe'], hear)
  if (code === 0) return
  const [last = ''] = said.trim().split('\n').slice(-1)
  throw new Failure('refused', `${command} exited with ${code}: ${last}`)
}

/**
 * Runs a program until it exits. Signals are forwarded to it and it decides how to react: a daemon shuts down in order, and
 * after a builder we clean up.
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
    // 128 + signal number, as a shell reports it.
    return { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), said }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw new Failure('refused', `program ${command} not found on this machine`, {
      cause,
      hint: 'install the Debian packages that Skerry needs; skerry doctor lists them',
    })
  } finally {
    for (const signal of PASSED_ON) process.off(signal, pass)
  }
}

export interface ChildOutcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The environment of a program, replacing ours. */
export type Environment = Readonly<Record<string, string>>

/**
 * Runs a program that dies with us, even if we are killed, so that the next run never meets it still at work. Returns its output
 * for any exit code; `hear` gets each line of its standard error as it comes.
 */
export async function askProgram(
  command: readonly string[],
  how: { readonly input?: string; readonly env?: Environment; readonly hear?: Hear } = {},
): Promise<ChildOutcome> {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(how.env && { env: how.env }),
  })
  // A program that exits without reading all of its input reports why by its exit code.
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

/** A program that does not start has no pid, which the caller reports; without a listener the event would end this process. */
const reportedByPid = (child: ChildProcess) => child.on('error', () => undefined)

/** Starts a detached server with its output sent to `output`, which we close; returns its pid. */
export function startDetached(
  command: readonly string[],
  { output, env }: { readonly output: Socket; readonly env: Environment },
): number {
  const [program = '', ...args] = command
  try {
    const child = spawn(program, args, {
      cwd: '/',
      env,
      detached: true,
      stdio: ['ignore', output, output],
    })
    reportedByPid(child)
    child.unref()
    if (child.pid === undefined) throw new Failure('refused', `${program} did not start`)
    return child.pid
  } finally {
    output.destroy()
  }
}

/** Starts a detached program that reads from `count` sockets, its file descriptors from 3 on; returns our ends. */
export function startReader(command: readonly string[], count: number): readonly Socket[] {
  const [program = '', ...args] = command
  const pipes = Array.from({ length: count }, () => 'pipe' as const)
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', ...pipes],
  })
  reportedByPid(child)
  child.unref()
  if (child.pid === undefined) throw new Failure('refused', `${program} did not start`)
  const sockets = child.stdio.slice(FIRST_PIPE) as unknown as readonly Socket[]
  for (const socket of sockets) {
    socket.on('error', () => undefined)
    socket.unref()
  }
  return sockets
}
