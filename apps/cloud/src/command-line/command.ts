import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

import { Fault } from '@skerry/fault'

import type { Issuing } from '../identity/issuers.ts'

/** What a command may use besides the given files and database. */
export interface CommandContext {
  readonly issuing: Issuing
  /** 256 bits of secure randomness, as text without spaces. */
  readonly secret: () => string
  readonly salt: () => Buffer
  readonly uuid: () => string
  readonly log: (message: string, cause?: unknown) => void
  /** Aborted when the program receives a signal to stop. */
  readonly stopped: AbortSignal
  readonly print: (text: string) => void
  /** Reads all of standard input. */
  readonly readInput: () => Promise<string>
}

export interface CommandInput {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
}

/** An administrator's command, run on the machine of a cell. */
export interface AdminCommand {
  /** One word, or two: 'host list'. */
  readonly name: string
  /** Positional arguments; all are required. */
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | true>>
  readonly summary: string
  run(context: CommandContext, requested: CommandInput): Promise<void>
}

export const CONFIG = '/etc/skerry/cloud.json'

export async function runCommand(
  context: CommandContext,
  commands: readonly AdminCommand[],
  argv: readonly string[],
): Promise<void> {
  const found = [2, 1]
    .map((length) => commands.find(({ name }) => name === argv.slice(0, length).join(' ')))
    .find((each) => each !== undefined)
  if (argv.includes('--help')) return context.print(found ? helpOf(found) : usageOf(commands))
  if (!found) throw new Fault('invalid', usageOf(commands))
  const { values, positionals } = parse(found, argv.slice(found.name.split(' ').length))
  if (positionals.length !== found.words.length) {
    throw new Fault('invalid', `usage: ${lineOf(found)}`)
  }
  await found.run(context, { words: positionals, options: values })
}

function parse(command: AdminCommand, args: readonly string[]) {
  const options: ParseArgsOptionsConfig = {
    config: { type: 'string', default: CONFIG },
    json: { type: 'boolean' },
    ...Object.fromEntries(
      Object.entries(command.options).map(([name, value]) => [
        name,
        { type: value === true ? 'boolean' : 'string' },
      ]),
    ),
  }
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    return { values: values as CommandInput['options'], positionals }
  } catch (cause) {
    throw new Fault('invalid', `${(cause as Error).message}\nusage: ${lineOf(command)}`, { cause })
  }
}

const lineOf = ({ name, words, options }: AdminCommand): string =>
  [
    `skerry cloud ${name}`,
    ...words,
    ...Object.entries(options).map(([each, value]) =>
      value === true ? `[--${each}]` : `[--${each} ${value}]`,
    ),
  ].join(' ')

const helpOf = (command: AdminCommand): string => `usage: ${lineOf(command)}\n${command.summary}`

const usageOf = (commands: readonly AdminCommand[]): string =>
  [
    'usage: skerry cloud COMMAND (on the machine of a cell)',
    ...commands.map((each) => `  ${lineOf(each)}\n      ${each.summary}`),
    `every command also takes --config FILE (default: ${CONFIG}) and --json`,
  ].join('\n')

/** The value of a required option. */
export function needed({ options }: CommandInput, name: string): string {
  const value = options[name]
  if (typeof value === 'string' && value !== '') return value
  throw new Fault('invalid', `--${name} is required`)
}

export function maybe({ options }: CommandInput, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

type Cell = string | number | boolean | Date | null | undefined

/** Prints aligned columns with a header, or JSON for programs. */
export function printRows(
  { print }: CommandContext,
  { options }: CommandInput,
  rows: readonly Readonly<Record<string, Cell>>[],
  heads: readonly string[],
): void {
  if (options['json'] === true) return print(JSON.stringify(rows, null, 2))
  const cells = rows.map((row) => heads.map((head) => plain(row[head])))
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...cells.map((line) => line[at]?.length ?? 0)),
  )
  for (const line of [heads.map((head) => head.toUpperCase()), ...cells]) {
    print(
      line
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

function plain(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value instanceof Date) return value.toISOString()
  // Hosts choose their own names: control characters must not reach the terminal.
  // oxlint-disable-next-line no-control-regex
  return String(value).replace(/[\u0000-\u001F\u007F-\u009F]/g, '\uFFFD')
}
