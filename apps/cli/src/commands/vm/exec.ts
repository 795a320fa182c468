import { command } from '../../command.ts'
import { wholeNumber } from '../../terminal/number.ts'
import { showProgress } from '../../terminal/progress.ts'
import { path } from '../../vms/local-client.ts'

interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export const exec = command({
  name: 'exec',
  asks: 'vmd',
  instead: 'skerry ssh VM -- COMMAND runs a command in it',
  usage: 'VM -- COMMAND...',
  summary: 'run a program in the guest through the guest agent; exits with its exit code',
  examples: [
    'skerry exec web -- /bin/ls -l /mnt/shares',
    'skerry exec web --timeout 300 -- /usr/bin/apt-get update',
  ],
  next: 'skerry logs VM if the agent does not respond',
  exits: 'the exit code of the program, if it ran',
  options: {
    timeout: { type: 'string', value: 'SECONDS', doc: 'time limit (default: 30)' },
  },
  async run(context, { words: [id = '', program = '', ...args], options, json }) {
    const seconds = wholeNumber('--timeout', options.timeout)
    const body = {
      path: program,
      args,
      ...(seconds !== undefined && { timeoutMs: seconds * 1000 }),
    }
    const outcome = await showProgress(context, `running ${program} in ${id}`, async () =>
      context.api.ask<Outcome>('POST', path('vms', id, 'exec'), { body }),
    )
    const { exitCode, stdout, stderr } = outcome.body
    if (json) context.print(JSON.stringify(outcome.body, null, 2))
    else {
      context.write(stdout)
      if (stderr !== '') context.complain(stderr.replace(/\n$/, ''))
    }
    return exitCode
  },
})
