import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

import { Fault } from '@skerry/fault'

import { failureOf } from './cloud/failure.ts'
import { places, type Args, type Command, type Options } from './command.ts'
import { contextAt, type LocalMachine } from './context-at.ts'
import { everywhere } from './help/global-options.ts'
import { helpForPrograms, helpOf, overview } from './help/help.ts'
import { exitCodes, Failure } from './terminal/failure.ts'
import { printable } from './terminal/table.ts'

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
  if (argv.length === 0) {
    machine.complain(overview(commands))
    return exitCodes.usage
  }
  if (argv[0] === '--help' || argv[0] === '-h') return say(machine, overview(commands))
  const { command, args, url, on, help } = readLine(commands, argv)
  if (help) return say(machine, args.json ? helpForPrograms(command) : helpOf(command))
  const context = await contextAt(machine, command, { url, on })
  try {
    return (await command.run(context, args)) ?? exitCodes.done
  } catch (error) {
    throw error instanceof Fault ? failureOf(error, context.cloud) : error
  }
}

/** Commands that start a server, which parses its own options. */
const servers = ['vmd', 'cloud', 'console-server', 'workflow-server', 'workflow-egress']

interface Line {
  readonly command: Command
  readonly args: Args<Options>
  readonly url: string | undefined
  readonly on: string | undefined
  readonly help: boolean
}

/** Parses a command line; an unknown command, option or argument is a Failure. */
export function readLine(commands: readonly Command[], argv: readonly string[]): Line {
  const [command, rest] = findCommand(commands, argv)
  if (servers.includes(command.name)) {
    const help = command.name === 'cloud' ? rest[0] === '--help' : rest.includes('--help')
    const args = { words: rest, options: {}, json: false }
    return { command, args, url: undefined, on: undefined, help }
  }
  const { values, positionals } = parse(command, rest)
  const { json, url, on, help, ...options } = values
  if (help !== true) checkWords(command, positionals)
  const args = { words: positionals, options, json: json === true } as Args<Options>
  const place = { url: url as string | undefined, on: on as string | undefined }
  return { command, args, ...place, help: help === true }
}

function say(machine: LocalMachine, text: string): number {
  machine.print(text)
  return exitCodes.done
}

/** The longest command name that the line begins with: 'share add' before 'share'. */
export function findCommand(
  commands: readonly Command[],
  argv: readonly string[],
): readonly [Command, readonly string[]] {
  for (const length of [2, 1]) {
    const name = argv.slice(0, length).join(' ')
    const found = commands.find((each) => each.name === name)
    if (found) return [found, argv.slice(length)]
  }
  const [first = ''] = argv
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length > 0) {
    const words = group.map(({ name }) => name.slice(first.length + 1))
    throw new Failure('usage', `${first} must be followed by one of ${words.join(', ')}`, {
      hint: `skerry ${group[0]?.name} --help`,
    })
  }
  const near = nearest(first, [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))])
  throw new Failure('usage', `there is no command ${printable(first)}`, {
    hint: near === undefined ? 'skerry help lists all commands' : `did you mean skerry ${near}?`,
  })
}

function parse(command: Command, rest: readonly string[]) {
  const all: Options = { ...command.options, ...everywhere }
  const options: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries(all).map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
  )
  try {
    return parseArgs({ args: [...rest], options, allowPositionals: true })
  } catch (cause) {
    // Only the first sentence: the others are advice of parseArgs that does not apply here.
    const [said = ''] = (cause as Error).message.split(/\. |\n/)
    throw wrongUsage(command, said.replace(/\.$/, ''), cause)
  }
}

function checkWords(command: Command, words: readonly string[]): void {
  const wanted = places(command.usage)
  const missing = wanted.find(({ needed }, at) => needed && words[at] === undefined)
  if (missing) throw wrongUsage(command, `${missing.name} is missing`)
  const extra = words[wanted.length]
  if (extra !== undefined && wanted.at(-1)?.rest !== true) {
    throw wrongUsage(command, `unexpected argument ${printable(extra)}`)
  }
}

const wrongUsage = (command: Command, message: string, cause?: unknown): Failure =>
  new Failure('usage', message, {
    cause,
    hint: `usage: skerry ${[command.name, command.usage].join(' ').trim()}; see --help`,
  })

function complain(machine: LocalMachine, failure: Failure, asJson: boolean): void {
  if (asJson) {
    const { reason, message, hint } = failure
    machine.print(JSON.stringify(failure.body ?? { reason, message, hint }))
  }
  machine.complain(`skerry: ${printable(failure.message)}`)
  if (failure.hint !== undefined) machine.complain(`next: ${printable(failure.hint)}`)
}

/** The closest of `words`, at most two edits away. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  return words
    .map((each) => ({ each, far: distance(word, each) }))
    .filter(({ each, far }) => far <= Math.min(2, each.length - 1))
    .sort((a, b) => a.far - b.far)[0]?.each
}

/** Levenshtein distance. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1]
    for (const [to, wanted] of Array.from(other).entries()) {
      const changed = (row[to] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(changed, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
