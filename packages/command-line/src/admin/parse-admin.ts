import type { Args } from '../declaration.ts'
import { findCommand } from '../find-command.ts'
import { parseLine } from '../parse.ts'
import { adminCommands } from './commands.ts'

const json = { type: 'boolean', doc: 'print JSON instead of text' } as const

/** Parses a line of `skerry admin` for a program that runs it without the CLI; --help is not known here. */
export function parseAdmin(argv: readonly string[]): Args & { readonly name: string } {
  const [command, rest] = findCommand(adminCommands, argv)
  const { words, values } = parseLine(command, rest, { ...command.options, json })
  const { json: asJson, ...options } = values
  return { name: command.name, words, options: options as Args['options'], json: asJson === true }
}
