import { flushCompileCache } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

import { Fault } from '@skerry/fault'

import { logLine } from './log-line.ts'

/** The main program of a process: a server, or a command. */
export interface MainProgram {
  /** As a user types it: `skerry console-server`. */
  readonly name: string
  /** Printed for --help. */
  readonly usage: string
  /** Permissions that files of this process do not get. Default: 0o077, private to its user. */
  readonly umask?: number
  readonly now: () => Date
  /** Runs to its end; a server, until it is stopped. */
  run(args: readonly string[], running: RunningProgram): Promise<void>
}

/** What a program takes from its process. */
export interface RunningProgram {
  /** From now on SIGINT and SIGTERM do not kill the process: they abort this signal, and the program stops in order. */
  readonly stopSignal: () => AbortSignal
  /** To standard error. */
  readonly log: (message: string, cause?: unknown) => void
  /** Waits; returns early when the signal is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

/**
 * By then a server has loaded its modules, and their compiled code goes to Node's compile cache, if it has one. Node itself writes it
 * when a process ends, but never for one that is killed.
 */
const LOADED_MS = 10_000

/** Runs a program from its start to its exit: umask, signals, log, exit codes. */
export async function runProgram(program: MainProgram, args: readonly string[]): Promise<void> {
  process.umask(program.umask ?? 0o077)
  setTimeout(flushCompileCache, LOADED_MS).unref()
  const stopping = new AbortController()
  const running: RunningProgram = {
    stopSignal() {
      const stop = () => stopping.abort()
      // Not once: a terminal and `skerry` both send Ctrl-C, and the second signal must not kill a program that is stopping.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
      return stopping.signal
    },
    log: (message, cause) => void process.stderr.write(logLine(program.now(), message, cause)),
    pause: async (ms, signal) => {
      await sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined)
    },
  }
  try {
    if (args.includes('--help')) process.stdout.write(`${program.usage}\n`)
    else await program.run(args, running)
    // Does not wait for connections that clients keep open.
    if (stopping.signal.aborted) process.exit(0)
  } catch (error) {
    reportFault(program.name, error)
    // A failed stop leaves listeners open; no further signal would end the process.
    if (stopping.signal.aborted) process.exit()
  }
}

/** Prints a fault for the user and sets the exit code of the process: 2 for wrong input, 1 for any other. A bug is thrown again. */
function reportFault(name: string, error: unknown): void {
  if (!(error instanceof Fault)) throw error
  const next = error.hint === undefined ? '' : `next: ${error.hint}\n`
  process.stderr.write(`${name}: ${error.message}\n${next}`)
  process.exitCode = error.kind === 'invalid' ? 2 : 1
}

/** The options of a command line; misuse is a Fault with the usage. */
export function readOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  usage: string,
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (cause) {
    throw new Fault('invalid', `${(cause as Error).message}\n${usage}`, { cause })
  }
}
