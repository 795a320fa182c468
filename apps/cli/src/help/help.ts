import type { Command, Options } from '../command.ts'
import { exitCodes, exitMeanings } from '../terminal/failure.ts'
import { environment, everywhere } from './global-options.ts'
import { outputs } from './outputs.ts'

/** Sections of the overview: a heading, and the first words of its commands. A test finds a command that is in none. */
const sections: readonly (readonly [string, readonly string[]])[] = [
  ['Get started', ['up', 'down', 'doctor']],
  ['Profiles', ['login', 'logout', 'profiles', 'use']],
  ['Virtual machines', ['list', 'info', 'create', 'clone', 'set', 'rm']],
  ['Power', ['start', 'stop', 'suspend', 'pause', 'unpause', 'reset', 'reboot']],
  ['Access to a VM', ['ssh', 'console', 'exec', 'ip', 'logs', 'forward', 'share']],
  ['Snapshots and templates', ['snapshot', 'template']],
  ['Cloud resources', ['vapp', 'vm', 'task', 'events', 'event', 'catalog']],
  ['Cloud administration', ['org', 'vdc', 'user', 'token', 'quota', 'host']],
  ['Workflows', ['workflow']],
  ['Servers', ['vmd', 'cloud', 'console-server', 'workflow-server', 'workflow-egress']],
  ['Other', ['help', 'completion', 'complete', 'version']],
]

/** All commands by section, one line each. */
export function overview(commands: readonly Command[]): string {
  const wide = Math.max(...commands.map((each) => usageOf(each).length))
  const rowsOf = (word: string) =>
    commands
      .filter(({ name }) => name.split(' ')[0] === word)
      .map((each) => `  ${usageOf(each).padEnd(wide)}  ${each.summary}`)
  return [
    'usage: skerry COMMAND [--on PROFILE] [--json] [--url URL]',
    '',
    ...sections.flatMap(([title, words]) => [`${title}:`, ...words.flatMap(rowsOf), '']),
    'Environment:',
    ...aligned(Object.entries(environment)),
    '',
    'Run skerry COMMAND --help for one command, skerry help --man for the full manual.',
    `exit codes: ${exitLine}`,
  ].join('\n')
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const { name, summary, options, examples, next, exits } = command
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
    name === 'vmd' ? `exit codes: 0 after a normal stop, ${exits}` : `exit codes: ${exitLine}`,
    ...(exits === undefined || name === 'vmd' ? [] : [`            ${exits}`]),
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

/** The options of a command. vmd is not a client of itself, so of the global options it has only --help. */
export const optionsOf = ({ name, options }: Command): Options =>
  name === 'vmd' ? { ...options, help: everywhere.help } : { ...options, ...everywhere }

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
const exitLine = exitRows.map(([code, meaning]) => `${code} ${meaning.split(',')[0]}`).join(', ')

function aligned(rows: readonly (readonly [string, string])[]): readonly string[] {
  const wide = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(wide)}  ${right}`)
}
