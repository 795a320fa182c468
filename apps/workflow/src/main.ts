import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { Fault } from '@skerry/fault'

import { readConfig } from './config.ts'
import { serve, type Only } from './serve.ts'

const USAGE = `usage: skerry workflow-server [--config FILE] [--only api|worker]
lists, exports, imports and runs workflows, until it is told to stop
  --config FILE      what skerry cloud workflow wrote; /etc/skerry/workflow.json unless told
  --only api|worker  only answers requests, or only runs workflows; both unless told`

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
  // A connection that a client keeps open is no reason to stay.
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
