// Runs one program to its end and reports errors clearly.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { text } from 'node:stream/consumers'

export interface Outcome {
  readonly stdout: string
  readonly stderr: string
  /** The exit code; 128 plus the signal number if a signal ended the program, as in a shell. */
  readonly code: number
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
  readonly signal?: AbortSignal
  /** Copies the program's output to our stderr, for builds that take minutes. */
  readonly loud?: boolean
}

/** Runs a program; throws an error with its output for an exit code other than 0. */
export async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const outcome = await attempt(command, options)
  if (outcome.code === 0) return outcome.stdout
  const said = (outcome.stderr.trim() || outcome.stdout.trim()).split('\n').slice(-20).join('\n')
  throw new Error(`${command.join(' ')} ended with ${outcome.code}: ${said || 'no output'}`)
}

/** Runs a program and returns its outcome, also of a failure. */
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

/** Waits for a started program and collects its output. */
export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ])
  return { stdout, stderr, code: code ?? 128 + (signal ? (constants.signals[signal] ?? 0) : 0) }
}
