import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

import { Fault } from '@skerry/fault'

import { places, type CommandDeclaration, type Options } from './declaration.ts'
import { printable } from './table.ts'

/** What parseArgs returns for one option. */
type ParsedValue = string | boolean | readonly (string | boolean)[] | undefined

export interface ParsedLine {
  readonly words: readonly string[]
  readonly values: Readonly<Record<string, ParsedValue>>
}

/**
 * Parses what follows the name of a command, with its own options and the global ones; an unknown option, a missing argument or one
 * too many is a Fault. With --help the arguments may be missing.
 */
export function parseLine(
  command: CommandDeclaration,
  rest: readonly string[],
  options: Options,
): ParsedLine {
  const types: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries(options).map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
  )
  const { values, positionals } = parsed(command, rest, types)
  if (values['help'] !== true) checkWords(command, positionals)
  return { words: positionals, values }
}

function parsed(
  command: CommandDeclaration,
  rest: readonly string[],
  options: ParseArgsOptionsConfig,
) {
  try {
    return parseArgs({ args: [...rest], options, allowPositionals: true })
  } catch (cause) {
    // Only the first sentence: the others are advice of parseArgs that does not apply here.
    const [said = ''] = (cause as Error).message.split(/\. |\n/)
    throw wrongUsage(command, said.replace(/\.$/, ''), cause)
  }
}

function checkWords(command: CommandDeclaration, words: readonly string[]): void {
  const wanted = places(command.usage)
  const missing = wanted.find(({ needed }, at) => needed && words[at] === undefined)
  if (missing) throw wrongUsage(command, `${missing.name} is missing`)
  const extra = words[wanted.length]
  if (extra !== undefined && wanted.at(-1)?.rest !== true) {
    throw wrongUsage(command, `unexpected argument ${printable(extra)}`)
  }
}

const wrongUsage = ({ name, usage }: CommandDeclaration, message: string, cause?: unknown): Fault =>
  new Fault('invalid', message, {
    cause,
    hint: `usage: skerry ${[name, usage].join(' ').trim()}; see --help`,
  })
