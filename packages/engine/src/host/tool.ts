import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { Fault } from '@skerry/fault'

const OUTPUT_BYTES_MAX = 1024 * 1024
const TIMEOUT_MS = 60_000

export interface ToolOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** For untrusted files: a tool that reads them must not exhaust the host. */
  readonly limits?: { readonly cpuSeconds: number; readonly memoryBytes: number }
}

/** Runs a program to its end and returns its stdout; takes an array of arguments, never a shell command. */
export async function runTool(
  program: string,
  words: readonly string[],
  options: ToolOptions = {},
): Promise<string> {
  const [command, args] = limited(program, words, options)
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout
  const child = spawn(command, args, {
    signal,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
    // One language for the logs; no code matches these messages.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' },
  })
  const output = collectOutput(child.stdout)
  const complaint = collectOutput(child.stderr)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    if (code === 0) return output()
    throw new Error(`${program} exited with ${code ?? 'a signal'}: ${complaint().trim()}`)
  } catch (cause) {
    throw explain(program, cause, timeout)
  }
}

/** Starts a program that outlives this process. */
export async function startTool(program: string, words: readonly string[]): Promise<number> {
  const child = spawn(program, words, { detached: true, stdio: 'ignore' })
  try {
    await once(child, 'spawn')
  } catch (cause) {
    throw explain(program, cause)
  }
  child.unref()
  return child.pid as number
}

function limited(
  program: string,
  words: readonly string[],
  { limits }: ToolOptions,
): [string, readonly string[]] {
  if (!limits) return [program, words]
  const { cpuSeconds, memoryBytes } = limits
  return ['prlimit', [`--cpu=${cpuSeconds}`, `--as=${memoryBytes}`, '--', program, ...words]]
}

function collectOutput(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= OUTPUT_BYTES_MAX) chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

function explain(program: string, cause: unknown, timeout?: AbortSignal): Error {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
    return new Fault('unavailable', `the program ${program} is not installed on this host`, {
      cause,
      hint: 'install the Debian packages that Skerry needs',
    })
  }
  if (timeout?.aborted)
    return new Fault('timed-out', `${program} did not finish in time`, { cause })
  return new Fault('unavailable', `${program} failed`, { cause })
}
