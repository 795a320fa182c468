// The only place where the network server starts programs: from an argument array, never through a shell.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { Fault } from '@skerry/fault'

const execute = promisify(execFile)
/** The kernel ends the program with this process, however this one ends: the next start never meets it still at work. */
const DIES_WITH_US = ['--pdeathsig', 'KILL', '--'] as const
const STOP_MS = 5_000

export interface ChildProgram {
  readonly name: string
  readonly pid: number
  /** Resolves when it has ended, with the reason. */
  readonly ended: Promise<Fault>
  stop(): Promise<void>
}

/** Starts a program that runs until it is stopped. `hear` gets each line of its standard error. */
export async function startProgram(
  name: string,
  command: readonly string[],
  hear: (line: string) => void,
): Promise<ChildProgram> {
  const child = spawn('setpriv', [...DIES_WITH_US, ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let last = ''
  createInterface({ input: child.stderr }).on('line', (line) => {
    last = line
    hear(line)
  })
  const ended = new Promise<Fault>((resolve) => {
    child.once('error', (cause) => {
      resolve(new Fault('unavailable', `${name} cannot be started`, { cause, hint: INSTALL }))
    })
    child.once('close', (code, signal) => {
      const how = `${name} ended with ${code ?? signal}${last === '' ? '' : `: ${last}`}`
      resolve(new Fault('unavailable', how))
    })
  })
  await Promise.race([once(child, 'spawn'), ended])
  return {
    name,
    pid: child.pid ?? 0,
    ended,
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(late)
    },
  }
}

const INSTALL = 'install the Debian packages ovn-central and openvswitch-common'
/** A control command waits until the database has done what it is doing. */
const TOOL_MS = 120_000

/** Runs a program to its end. Returns its standard output. */
export async function runTool(command: readonly string[]): Promise<string> {
  const [program = '', ...words] = command
  const ran = execute(program, words, { timeout: TOOL_MS }).catch((cause: unknown) => {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const message = isMissing ? `${program} is not installed` : `${program} ${words[0]} failed`
    throw new Fault('unavailable', message, { cause, ...(isMissing && { hint: INSTALL }) })
  })
  return (await ran).stdout
}
