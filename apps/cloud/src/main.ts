import { randomBytes, randomUUID } from 'node:crypto'

import { CLOUD_CONFIG } from '@skerry/command-line'
import { readOptions, runProgram } from '@skerry/service'

import { sourcesOf } from './command-line/command-context.ts'
import { serve } from './commands/serve.ts'
import { readConfig } from './config.ts'

const USAGE = `usage: skerry cloud-server [--config FILE]
run a cell of a cloud, until stopped: the API, the machine API, a worker and the sessions with hosts
  --config FILE  configuration written by skerry admin init or skerry admin cell create (default: ${CLOUD_CONFIG})`

await runProgram(
  {
    name: 'skerry cloud-server',
    usage: USAGE,
    now: () => new Date(),
    async run(args, { log, stopSignal }) {
      const { config } = readOptions(args, USAGE, {
        config: { type: 'string', default: CLOUD_CONFIG },
      })
      const sources = sourcesOf({ now: () => new Date(), bytes: randomBytes, uuid: randomUUID })
      await serve({ ...sources, log, stopped: stopSignal() }, await readConfig(config))
    },
  },
  process.argv.slice(2),
)
