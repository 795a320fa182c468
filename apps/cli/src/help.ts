import type { Command, Options } from './command.ts'
import { environment, everywhere } from './everywhere.ts'
import { exitCodes, exitMeanings } from './failure.ts'
import { outputs } from './outputs.ts'

/** All commands, one line each. */
export function overview(commands: readonly Command[]): string {
  const rows = commands.map((each) => [usageOf(each), each.summary] as const)
  return [
    'usage: skerry COMMAND [--on PROFILE] [--json] [--url URL]',
    '',
    ...aligned(rows),
    '',
    'environment:',
    ...aligned(Object.entries(environment)),
    '',
    'skerry COMMAND --help says more, skerry help --man says all.',
    `exit codes: ${exitLine}`,
  ].join('\n')
}

/** One command, as a page of a manual would tell it. */
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
    name === 'vmd' ? `exit codes: 0 when it was told to end, ${exits}` : `exit codes: ${exitLine}`,
    ...(exits === undefined || name === 'vmd' ? [] : [`            ${exits}`]),
  ].join('\n')
}

/** The same for programs: `output` is the JSON Schema of what --json prints, where it prints anything. */
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

/** The daemon is no client of itself: of what all others understand it only knows --help. */
export const optionsOf = ({ name, options }: Command): Options =>
  name === 'vmd' ? { ...options, help: everywhere.help } : { ...options, ...everywhere }

/** `--memory SIZE` and what it is for. */
export const optionRows = (options: Options): readonly (readonly [string, string])[] =>
  Object.entries(options).map(([option, { type, value, doc }]) => [
    `--${option}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`,
    doc,
  ])

export const exitRows: readonly (readonly [string, string])[] = Object.entries(exitCodes).map(
  ([reason, code]) => [String(code), exitMeanings[reason as keyof typeof exitCodes]],
)
/** The words before the comma: all that a line has room for. */
const exitLine = exitRows.map(([code, meaning]) => `${code} ${meaning.split(',')[0]}`).join(', ')

function aligned(rows: readonly (readonly [string, string])[]): readonly string[] {
  const wide = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(wide)}  ${right}`)
}
