// The same on a terminal, for workflows. tests/web-commands.test.ts parses the lines with the commands of the CLI.
import { shellQuoted } from './commands.ts'

export type RunInputs = Readonly<Record<string, unknown>>

const options = (inputs: RunInputs): string =>
  Object.entries(inputs)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return ` --input ${shellQuoted(`${name}=${text}`)}`
    })
    .join('')

export const listWorkflowsCommand = (): string => `skerry workflow list`
export const runCommand = (name: string, inputs: RunInputs): string =>
  `skerry workflow run ${shellQuoted(name)}${options(inputs)} --wait`
export const logsCommand = (name: string, run: string): string =>
  `skerry workflow logs ${shellQuoted(name)} ${run}`
export const answerCommand = (name: string, run: string, inputs: RunInputs): string =>
  `skerry workflow answer ${shellQuoted(name)} ${run}${options(inputs)}`
export const schedulesCommand = (name: string): string =>
  `skerry workflow schedule ${shellQuoted(name)}`
export const pauseCommand = (name: string, schedule: string): string =>
  `skerry workflow schedule ${shellQuoted(name)} --pause ${schedule}`
export const scheduleCommand = (
  name: string,
  { cron, title, zone }: Readonly<{ cron: string; title: string; zone: string }>,
  inputs: RunInputs,
): string =>
  `skerry workflow schedule ${shellQuoted(name)} --cron ${shellQuoted(cron)} --time-zone ${shellQuoted(zone)} --name ${shellQuoted(title)}${options(inputs)}`
