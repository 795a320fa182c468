import { renderTable, type AdminDeclaration, type Args, type Options } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import type { IssueContext } from '../identity/issuers.ts'

/** What a command may use besides the given files and database. */
export interface CommandContext {
  readonly issuing: IssueContext
  /** 256 bits of secure randomness, as text without spaces. */
  readonly secret: () => string
  readonly salt: () => Buffer
  readonly uuid: () => string
  readonly log: (message: string, cause?: unknown) => void
  readonly print: (text: string) => void
  /** Reads all of standard input. */
  readonly readInput: () => Promise<string>
}

/** What runs for a command of `skerry admin`, on the machine of a cell. */
export interface AdminCommand {
  readonly name: string
  run(context: CommandContext, requested: Args): Promise<void>
}

/** Infers the option types of a command from its declaration. */
export const runs = <const All extends Options>(
  { name }: AdminDeclaration<All>,
  run: (context: CommandContext, requested: Args<All>) => Promise<void>,
): AdminCommand => ({ name, run })

/** A command line that the CLI has parsed. */
export interface ParsedAdminCommand extends Args {
  readonly name: string
}

export async function runParsed(
  context: CommandContext,
  commands: readonly AdminCommand[],
  parsed: ParsedAdminCommand,
): Promise<void> {
  const found = commands.find(({ name }) => name === parsed.name)
  if (!found) throw new Fault('invalid', `there is no command ${parsed.name}`)
  await found.run(context, parsed)
}

/** The value of a required option. */
export function needed<All extends Options>(
  { options }: Args<All>,
  name: keyof All & string,
): string {
  const value: unknown = options[name]
  if (typeof value === 'string' && value !== '') return value
  throw new Fault('invalid', `--${name} is required`)
}

export function maybe<All extends Options>(
  { options }: Args<All>,
  name: keyof All & string,
): string | undefined {
  const value: unknown = options[name]
  return typeof value === 'string' ? value : undefined
}

type Cell = string | number | boolean | Date | null | undefined

/** Prints aligned columns with a header, or JSON for programs. */
export function printRows(
  { print }: CommandContext,
  { json }: Args,
  rows: readonly Readonly<Record<string, Cell>>[],
  heads: readonly string[],
): void {
  if (json) return print(JSON.stringify(rows, null, 2))
  const columns = heads.map((key) => ({
    head: key.toUpperCase(),
    cell: (row: Readonly<Record<string, Cell>>) => plain(row[key]),
  }))
  print(renderTable(columns, rows))
}

function plain(value: Cell): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value instanceof Date ? value.toISOString() : String(value)
}
