import { findCommand, isGroup, parseLine, printable, type Args } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import { failureOf } from './cloud/failure.ts'
import type { Command } from './command.ts'
import { contextAt, type LocalMachine } from './context-at.ts'
import { optionsOf } from './help/global-options.ts'
import { groupHelp, helpForPrograms, helpOf, overview } from './help/help.ts'
import { exitCodes, Failure } from './terminal/failure.ts'

export type { LocalMachine } from './context-at.ts'

/** Runs one command line and returns its exit code. A Failure is printed as one line and the next step. */
export async function runCommand(
  machine: LocalMachine,
  commands: readonly Command[],
  argv: readonly string[],
): Promise<number> {
  const wantsJson = argv.slice(0, argv.indexOf('--') === -1 ? undefined : argv.indexOf('--'))
  try {
    return await run(machine, commands, argv)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    complain(machine, error, wantsJson.includes('--json'))
    return exitCodes[error.reason]
  }
}

async function run(
  machine: LocalMachine,
  commands: readonly Command[],
  argv: readonly string[],
): Promise<number> {
  const page = pageFor(commands, argv)
  if (page !== undefined) {
    const isWanted = argv.some(isHelp)
    if (isWanted) machine.print(page)
    else machine.complain(page)
    return isWanted ? exitCodes.done : exitCodes.usage
  }
  const { command, args, url, on, help } = readLine(commands, argv)
  if (help) {
    machine.print(args.json ? helpForPrograms(command) : helpOf(command))
    return exitCodes.done
  }
  const context = await contextAt(machine, command, { url, on })
  try {
    return (await command.run(context, args)) ?? exitCodes.done
  } catch (error) {
    throw error instanceof Fault ? failureOf(error, context.cloud) : error
  }
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h'

/** The list of commands for a line that names a group, or nothing: `skerry`, `skerry admin`, `skerry admin host --help`. */
function pageFor(commands: readonly Command[], argv: readonly string[]): string | undefined {
  const group = argv.filter((word) => !isHelp(word)).join(' ')
  if (group === '') return overview(commands)
  return isGroup(commands, group) ? groupHelp(commands, group) : undefined
}

interface Line {
  readonly command: Command
  readonly args: Args
  readonly url: string | undefined
  readonly on: string | undefined
  readonly help: boolean
}

/** Parses a command line; an unknown command, option or argument is a Failure. */
export function readLine(commands: readonly Command[], argv: readonly string[]): Line {
  try {
    const [command, rest] = findCommand(commands, argv)
    if (command.program === 'server') {
      const args = { words: rest, options: {}, json: false }
      return { command, args, url: undefined, on: undefined, help: rest.includes('--help') }
    }
    const { words, values } = parseLine(command, rest, optionsOf(command))
    const { json, help, ...own } = values
    const { url, on, ...options } = own
    // `skerry admin` has no profile; its --url is an option of its own.
    const isAdmin = command.program === 'admin'
    const args = { words, options: isAdmin ? own : options, json: json === true } as Args
    const place = { url: isAdmin ? undefined : url, on: isAdmin ? undefined : on }
    return { command, args, ...(place as Pick<Line, 'url' | 'on'>), help: help === true }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Failure('usage', error.message, { cause: error, hint: error.hint })
  }
}

function complain(machine: LocalMachine, failure: Failure, asJson: boolean): void {
  if (asJson) {
    const { reason, message, hint } = failure
    machine.print(JSON.stringify(failure.body ?? { reason, message, hint }))
  }
  machine.complain(`skerry: ${printable(failure.message)}`)
  if (failure.hint !== undefined) machine.complain(`next: ${printable(failure.hint)}`)
}
