import { command } from '../command.ts'
import { path } from '../local-client.ts'
import { wholeNumber } from '../number.ts'
import { showProgress } from '../progress.ts'

interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export const exec = command({
  name: 'exec',
  asks: 'vmd',
  instead: 'skerry ssh VM -- COMMAND runs it there',
  usage: 'VM -- COMMAND...',
  summary: 'run a program in the guest by its agent; exits as the program did',
  examples: [
    'skerry exec web -- /bin/ls -l /mnt/shares',
    'skerry exec web --timeout 300 -- /usr/bin/apt-get update',
  ],
  next: 'skerry logs VM, where the agent does not answer',
  exits: 'the exit code of the program, once it ran',
  options: {
    timeout: { type: 'string', value: 'SECONDS', doc: 'how long it may take; 30 unless told' },
  },
  async run(world, { words: [id = '', program = '', ...args], options, json }) {
    const seconds = wholeNumber('--timeout', options.timeout)
    const body = {
      path: program,
      args,
      ...(seconds !== undefined && { timeoutMs: seconds * 1000 }),
    }
    const outcome = await showProgress(world, `running ${program} in ${id}`, async () =>
      world.api.ask<Outcome>('POST', path('vms', id, 'exec'), { body }),
    )
    const { exitCode, stdout, stderr } = outcome.body
    if (json) world.print(JSON.stringify(outcome.body, null, 2))
    else {
      world.write(stdout)
      if (stderr !== '') world.complain(stderr.replace(/\n$/, ''))
    }
    return exitCode
  },
})
