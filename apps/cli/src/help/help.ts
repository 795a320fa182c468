import { commandsIn, nextWords, type Options } from '@skerry/command-line'

import type { Command } from '../command.ts'
import { exitCodes, exitMeanings } from '../terminal/failure.ts'
import { optionsOf } from './global-options.ts'
import { outputs } from './outputs.ts'
import { firstExamples, groups, sections } from './sections.ts'

/** What a command is for, without details: the summary up to its first colon, semicolon or parenthesis. */
const brief = (summary: string): string => (summary.split(/[;:(]/)[0] ?? '').trim()

/** A line for each word that may follow: a command, or a group of commands. */
function rowsOf(
  commands: readonly Command[],
  group: string,
  words: readonly string[],
): readonly (readonly [string, string])[] {
  return words.map((word) => {
    const name = `${group} ${word}`.trim()
    const command = commands.find((each) => each.name === name)
    return command
      ? [`${word} ${command.usage}`.trim(), brief(command.summary)]
      : [word, groups[name] ?? '']
  })
}

/** All commands and groups by section, one line each. */
export function overview(commands: readonly Command[]): string {
  const rows = sections.flatMap(([, words]) => rowsOf(commands, '', words))
  const wide = Math.max(...rows.map(([left]) => left.length))
  return [
    'usage: skerry COMMAND [--on PROFILE] [--json] [--url URL]',
    '',
    ...sections.flatMap(([title, words]) => [
      `${title}:`,
      ...aligned(rowsOf(commands, '', words), wide),
      '',
    ]),
    'Examples:',
    ...firstExamples.map((line) => `  ${line}`),
    '',
    'Learn more:',
    ...aligned([
      ['skerry COMMAND --help', 'options, examples and exit codes of one command'],
      ['skerry help --man', 'the full manual with files and environment variables, for man -l'],
    ]),
    '',
    `exit codes: ${exitLine}`,
  ].join('\n')
}

/** The commands of a group: `skerry share`, `skerry admin`, `skerry admin host`. */
export function groupHelp(commands: readonly Command[], group: string): string {
  const inside = commandsIn(commands, group)
  return [
    `usage: skerry ${group} COMMAND`,
    '',
    groups[group] ?? '',
    '',
    'commands:',
    ...aligned(rowsOf(commands, group, nextWords(commands, group))),
    '',
    'examples:',
    ...inside.slice(0, EXAMPLES).flatMap(({ examples }) => [`  ${examples[0]}`]),
    '',
    `learn more: skerry ${group} COMMAND --help`,
  ].join('\n')
}
const EXAMPLES = 3

/** The help of one command. */
export function helpOf(command: Command): string {
  const { program, summary, options, examples, next, exits } = command
  return [
    `usage: skerry ${usageOf(command)}${Object.keys(options).length > 0 ? ' [options]' : ''}`,
    '',
    summary,
    '',
    'options:',
    ...aligned(optionRows(optionsOf(command))),
    '',
    examples.length === 1 ? 'example:' : 'examples:',
    ...examples.map((line) => `  ${line}`),
    '',
    `next: ${next}`,
    program === 'server'
      ? `exit codes: 0 after a normal stop, ${exits}`
      : `exit codes: ${program === 'admin' ? adminExitLine : exitLine}`,
    ...(exits === undefined || program === 'server' ? [] : [`            ${exits}`]),
  ].join('\n')
}

/** The same as JSON; `output` is the JSON Schema of what the command prints with --json, if it prints any. */
export const helpForPrograms = (command: Command): string => {
  const { name, summary, examples, next } = command
  const options = optionsOf(command)
  const output = outputs[name]
  return JSON.stringify(
    { usage: usageOf(command), summary, options, examples, next, output },
    null,
    2,
  )
}

export const usageOf = ({ name, usage }: Command): string => `${name} ${usage}`.trim()

/** Pairs of `--memory SIZE` and its description. */
export const optionRows = (options: Options): readonly (readonly [string, string])[] =>
  Object.entries(options).map(([option, { type, value, doc }]) => [
    `--${option}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`,
    doc,
  ])

export const exitRows: readonly (readonly [string, string])[] = Object.entries(exitCodes).map(
  ([reason, code]) => [String(code), exitMeanings[reason as keyof typeof exitCodes]],
)
/** The text before the first comma, to keep it on one line. */
const lineOf = (rows: typeof exitRows): string =>
  rows.map(([code, meaning]) => `${code} ${meaning.split(',')[0]}`).join(', ')
const exitLine = lineOf(exitRows)
/** They use no API that could be unreachable or late. */
const adminExitLine = lineOf(exitRows.filter(([code]) => Number(code) <= 2))

function aligned(
  rows: readonly (readonly [string, string])[],
  wide = Math.max(...rows.map(([left]) => left.length)),
): readonly string[] {
  return rows.map(([left, right]) => `  ${left.padEnd(wide)}  ${right}`)
}
