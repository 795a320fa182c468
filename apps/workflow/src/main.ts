import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { Fault } from '@skerry/fault'

import { readConfig } from './config.ts'
import { serve, type Only } from './serve.ts'

const USAGE = `usage: skerry workflow-server [--config FILE] [--only api|worker]
lists, exports, imports and runs workflows until it receives a stop signal
    --config FILE      configuration written by skerry cloud workflow (default: /etc/skerry/workflow.json)
    --only api|worker  only serve the API, or only run workflows (default: both)`

// Files of this process are not readable by other users of the machine.
process.umask(0o077)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

const given = {
  clock: { now: () => new Date() },
  now: () => performance.now(),
  uuid: () => randomUUID(),
  random: (bytes: number) => randomBytes(bytes),
  pause: async (ms: number, signal?: AbortSignal): Promise<void> => {
    await sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined)
  },
  log: (message: string, cause?: unknown): void => {
    const chain = cause instanceof Error ? ` ${cause.stack ?? cause.message}` : ''
    process.stderr.write(`${new Date().toISOString()} ${message}${chain}\n`)
  },
  stopped: stopping.signal,
}

function onlyIn(word: string | undefined): Only {
  if (word === undefined || word === 'api' || word === 'worker') return word
  throw new Fault('invalid', `--only must be api or worker, not ${word}`)
}

try {
  const { values } = parseArgs({
    options: {
      config: { type: 'string', default: '/etc/skerry/workflow.json' },
      only: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) process.stdout.write(`${USAGE}\n`)
  else await serve(await readConfig(values.config), given, onlyIn(values.only))
  // Do not wait for a connection that a client keeps open.
  if (stopping.signal.aborted) process.exit(0)
} catch (error) {
  const isMisuse = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') === true
  if (!(error instanceof Fault) && !isMisuse) throw error
  const { message, hint } = error as Fault
  process.stderr.write(
    `skerry workflow-server: ${message}\n${hint === undefined ? '' : `next: ${hint}\n`}`,
  )
  process.exitCode = isMisuse || (error as Fault).kind === 'invalid' ? 2 : 1
}
