// Runs one program to its end and says plainly what went wrong.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { text } from 'node:stream/consumers'

export interface Outcome {
  readonly stdout: string
  readonly stderr: string
  /** The exit code; 128 and the signal's number when a signal ended the program, as a shell says it. */
  readonly code: number
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
  readonly signal?: AbortSignal
  /** Sends what the program prints to our stderr as well, for builds that take minutes. */
  readonly loud?: boolean
}

/** Runs a program; an exit code other than 0 is an error that carries what the program printed. */
export async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const outcome = await attempt(command, options)
  if (outcome.code === 0) return outcome.stdout
  const said = (outcome.stderr.trim() || outcome.stdout.trim()).split('\n').slice(-20).join('\n')
  throw new Error(`${command.join(' ')} ended with ${outcome.code}: ${said || 'it said nothing'}`)
}

/** Runs a program and hands back its outcome, whatever it was. */
export async function attempt(
  command: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    signal: options.signal,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  if (options.loud) {
    child.stdout?.pipe(process.stderr, { end: false })
    child.stderr?.pipe(process.stderr, { end: false })
  }
  child.stdin?.end(options.input)
  return outcomeOf(child)
}

/** Waits for a started program and gathers what it printed. */
export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ])
  return { stdout, stderr, code: code ?? 128 + (signal ? (constants.signals[signal] ?? 0) : 0) }
}
