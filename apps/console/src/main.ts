import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { Fault } from '@skerry/fault'
import { connectHost } from '@skerry/host-api'
import { openDatabase } from '@skerry/postgres'
import { endings, loadScreenFiles } from '@skerry/screen'
import { closeConsole, redeemTicket, renewConsoles } from '@skerry/ticket'

import { originOf, readConfig, type Config } from './config.ts'
import { openIdentity } from './identity.ts'
import { OpenScreens } from './open-screens.ts'
import { openDoor } from './server.ts'

const USAGE = `usage: skerry console-server [--config FILE]
runs a console of a cloud: shows screens to whoever has a ticket, until it is told to stop
  --config FILE  what skerry cloud console wrote; /etc/skerry/console.json unless told`

/** Tickets are redeemed over these; open screens are renewed over one of their own, so that guesses cannot keep it waiting. */
const CONNECTIONS = 8
/** A burst of viewers waits its turn rather than being refused. */
const PATIENCE_MS = 8000
const DRAIN_SECONDS = 30
/** How long viewers may take to hear the last word, and the database to be told. */
const FAREWELL_MS = 7000

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

const log = (message: string, cause?: unknown): void => {
  const chain = cause instanceof Error ? ` ${cause.stack ?? cause.message}` : ''
  process.stderr.write(`${new Date().toISOString()} ${message}${chain}\n`)
}
const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  await sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined)
}

async function serve(config: Config): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const { name, database: url } = config
  const pool = { url, applicationName: `skerry console ${name}` }
  const forTickets = openDatabase({ ...pool, size: CONNECTIONS, connectTimeoutMs: PATIENCE_MS })
  opened.defer(() => forTickets.destroy())
  const forRenewal = openDatabase({ ...pool, size: 1 })
  opened.defer(() => forRenewal.destroy())
  const screens = new OpenScreens({
    register: {
      renew: (open) => renewConsoles(forRenewal, name, open),
      close: (console, bytes, why) => closeConsole(forRenewal, console, bytes, why),
    },
    ...{ now: () => performance.now(), pause, log },
  })
  const clock = { now: () => new Date() }
  const renewed = () => door.renewed()
  const kept = await openIdentity({ config, clock, pause, log, renewed })
  const door = opened.use(
    openDoor({
      ...{ screens, log, origin: originOf(config), files: await loadScreenFiles() },
      tls: () => kept.current().server,
      redeem: (ticket, from) => redeemTicket(forTickets, ticket, name, from),
      connect: ({ address, port, host: hostId }) =>
        connectHost({ address, port, hostId, tls: kept.current().toHosts }),
    }),
  )
  door.server.listen({ host: config.listen.address, port: config.listen.port })
  await once(door.server, 'listening')
  log(`console ${name} answers at https://${config.listen.address}:${config.listen.port}`)
  const over = new AbortController()
  const keeping = screens.keep(over.signal)
  await kept.keep(stopping.signal)
  door.drain()
  log(`console ${name} stops; ${screens.count} screens are open`)
  await until(() => screens.count === 0, (config.drainSeconds ?? DRAIN_SECONDS) * 1000)
  screens.endAll(endings.stopping)
  await until(() => screens.isSettled, FAREWELL_MS)
  over.abort()
  await keeping
}

async function until(isSo: () => boolean, ms: number): Promise<void> {
  const deadline = performance.now() + ms
  while (!isSo() && performance.now() < deadline) await pause(50)
}

try {
  const { values } = parseArgs({
    options: {
      config: { type: 'string', default: '/etc/skerry/console.json' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) process.stdout.write(`${USAGE}\n`)
  else await serve(await readConfig(values.config))
  // A connection that a client keeps open is no reason to stay.
  if (stopping.signal.aborted) process.exit(0)
} catch (error) {
  const isMisuse = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') === true
  if (!(error instanceof Fault) && !isMisuse) throw error
  const { message, hint } = error as Fault
  process.stderr.write(
    `skerry console-server: ${message}\n${hint === undefined ? '' : `next: ${hint}\n`}`,
  )
  process.exitCode = isMisuse || (error as Fault).kind === 'invalid' ? 2 : 1
}
