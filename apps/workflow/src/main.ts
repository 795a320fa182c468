import { randomBytes, randomUUID } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { readOptions, runProgram } from '@skerry/service'

import { readConfig } from './config.ts'
import { serve, type ServerPart } from './serve.ts'

const USAGE = `usage: skerry workflow-server [--config FILE] [--only api|worker]
lists, exports, imports and runs workflows until it receives a stop signal
    --config FILE      configuration written by skerry admin workflow-server create (default: /etc/skerry/workflow.json)
    --only api|worker  only serve the API, or only run workflows (default: both)`

function onlyIn(word: string | undefined): ServerPart {
  if (word === undefined || word === 'api' || word === 'worker') return word
  throw new Fault('invalid', `--only must be api or worker, not ${word}`)
}

await runProgram(
  {
    name: 'skerry workflow-server',
    usage: USAGE,
    now: () => new Date(),
    async run(args, { log, pause, stopSignal }) {
      const { config, only } = readOptions(args, USAGE, {
        config: { type: 'string', default: '/etc/skerry/workflow.json' },
        only: { type: 'string' },
      })
      const context = {
        log,
        pause,
        stopped: stopSignal(),
        clock: { now: () => new Date() },
        now: () => performance.now(),
        uuid: () => randomUUID(),
        random: (bytes: number) => randomBytes(bytes),
      }
      await serve(await readConfig(config), context, onlyIn(only))
    },
  },
  process.argv.slice(2),
)
