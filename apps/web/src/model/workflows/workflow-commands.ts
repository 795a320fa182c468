// The same on a terminal, for workflows. tests/web-commands.test.ts parses the lines with the commands of the CLI.
import { shellQuoted } from '../commands.ts'
import type { ScheduleTimes } from './schedule-times.ts'
import type { FormSchema } from './schema-form.ts'
import { isSecretInput } from './schema-secrets.ts'

export interface FilledForm {
  readonly schema: FormSchema
  /** undefined: something is wrong with it. */
  readonly value: Readonly<Record<string, unknown>> | undefined
}

/** `skerry` reads NAME=@FILE from a file: a secret belongs neither on the screen nor in a list of processes. */
const SECRET = '@FILE'

const options = ({ schema, value: inputs = {} }: FilledForm): string =>
  Object.entries(inputs)
    .map(([name, value]) => {
      const plain = typeof value === 'string' ? value : JSON.stringify(value)
      const text = isSecretInput(schema, name) ? SECRET : plain
      return ` --input ${shellQuoted(`${name}=${text}`)}`
    })
    .join('')

export const listWorkflowsCommand = (): string => `skerry workflow list`
export const runCommand = (name: string, form: FilledForm): string =>
  `skerry workflow run ${shellQuoted(name)}${options(form)} --wait`
export const logsCommand = (name: string, run: string): string =>
  `skerry workflow logs ${shellQuoted(name)} ${run}`
export const answerCommand = (name: string, run: string, form: FilledForm): string =>
  `skerry workflow answer ${shellQuoted(name)} ${run}${options(form)}`
export const pauseCommand = (name: string, schedule: string): string =>
  `skerry workflow schedule ${shellQuoted(name)} --pause ${schedule}`
export const scheduleCommand = (
  name: string,
  { times, title }: Readonly<{ times: ScheduleTimes; title: string }>,
  form: FilledForm,
): string =>
  `skerry workflow schedule ${shellQuoted(name)}${timesOptions(times)} --name ${shellQuoted(title)}${options(form)}`

const timesOptions = (times: ScheduleTimes): string =>
  'cron' in times
    ? ` --cron ${shellQuoted(times.cron)} --time-zone ${shellQuoted(times['time-zone'])}`
    : ` --every ${times['every-seconds']}`

export const importCommand = (file: string, overwrite: boolean): string =>
  `skerry workflow import ${shellQuoted(file)}${overwrite ? ' --overwrite' : ''}`
