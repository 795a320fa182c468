// A program for run-program.test.ts: `sample-program.ts [--file FILE] [--fail KIND] [--fail-stop]`.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'

import { Fault, type FaultKind } from '@skerry/fault'

import { readOptions, runProgram } from '../src/index.ts'

const USAGE = 'usage: sample [--file FILE] [--fail KIND]'

await runProgram(
  {
    name: 'skerry sample',
    usage: USAGE,
    now: () => new Date(0),
    async run(args, { log, pause, stopSignal }) {
      const {
        file,
        fail,
        'fail-stop': failStop,
      } = readOptions(args, USAGE, {
        file: { type: 'string' },
        fail: { type: 'string' },
        'fail-stop': { type: 'boolean' },
      })
      if (fail === 'bug') throw new Error('a bug')
      if (fail !== undefined) throw new Fault(fail as FaultKind, 'no', { hint: 'try again' })
      if (file !== undefined) await writeFile(file, '')
      const stopped = stopSignal()
      log('it serves', new Fault('invalid', 'a\nb'))
      // An open connection of a client, which must not keep the process.
      setInterval(() => undefined, 60_000)
      if (!stopped.aborted) await once(stopped, 'abort')
      if (failStop === true) throw new Fault('unavailable', 'the stop failed')
      log('it stops')
      await pause(300)
    },
  },
  process.argv.slice(2),
)
