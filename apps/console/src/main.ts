import { once } from 'node:events'

import { connectHost } from '@skerry/host-api'
import { openDatabase, ping, Pools } from '@skerry/postgres'
import { endings, loadScreenFiles } from '@skerry/screen'
import {
  Conditions,
  openHealth,
  readOptions,
  runProgram,
  type RunningProgram,
  type ServerMeter,
} from '@skerry/service'
import { closeConsole, redeemTicket, renewConsoles } from '@skerry/ticket'

import { originsOf, readConfig, type ConsoleConfig } from './config.ts'
import { openIdentity } from './identity.ts'
import { consoleMeter, type ConsoleFigures } from './meter.ts'
import { OpenScreens } from './screens/open-screens.ts'
import { openConsoleListener } from './server.ts'

const USAGE = `usage: skerry console-server [--config FILE]
run a console server of a cloud: show VM screens to clients with a ticket, until stopped
  --config FILE  configuration written by skerry admin console-server create (default: /etc/skerry/console.json)`

/** Connections to redeem tickets; open screens are renewed over a separate one, so that guessed tickets cannot delay it. */
const CONNECTIONS = 8
/** A burst of viewers queues instead of being rejected. */
const PATIENCE_MS = 8000
const DRAIN_SECONDS = 30
/** How long viewers may take to receive the close frame, and the database to record it. */
const FAREWELL_MS = 7000

async function serve(config: ConsoleConfig, running: RunningProgram): Promise<void> {
  const { log, pause, stopSignal } = running
  const stopped = stopSignal()
  await using opened = new AsyncDisposableStack()
  const { name, database: url } = config
  const pool = { url, applicationName: `skerry console ${name}` }
  const pools = new Pools()
  const forTickets = openDatabase({
    ...pool,
    size: CONNECTIONS,
    connectTimeoutMs: PATIENCE_MS,
    counted: { in: pools, as: 'tickets' },
  })
  opened.defer(() => forTickets.destroy())
  const forRenewal = openDatabase({ ...pool, size: 1, counted: { in: pools, as: 'renewal' } })
  opened.defer(() => forRenewal.destroy())
  const screens = new OpenScreens({
    register: {
      renew: (open) => renewConsoles(forRenewal, name, open),
      close: (console, bytes, why) => closeConsole(forRenewal, console, bytes, why),
    },
    now: () => performance.now(),
    pause,
    log,
  })
  const clock = { now: () => new Date() }
  const renewed = () => api.renewed()
  const kept = await openIdentity({ config, clock, pause, log, renewed })
  const meter = await openMeter(
    opened,
    { config, log },
    {
      clock,
      pools,
      screens,
      askDatabase: () => ping(forTickets),
      certificates: () => ({
        console: kept.current().toCells.cert,
        server: kept.current().server.cert,
      }),
    },
  )
  const api = opened.use(
    openConsoleListener({
      answered: (route, answer) => meter.request(route, answer),
      screens,
      log,
      origins: originsOf(config),
      files: await loadScreenFiles(),
      tls: () => kept.current().server,
      sharedAddresses: config.sharedAddresses,
      redeem: (ticket, from) => redeemTicket(forTickets, ticket, name, from),
      connect: ({ address, port, host: hostId }) =>
        connectHost({ address, port, hostId, tls: kept.current().toHosts }),
    }),
  )
  api.server.listen({ host: config.listen.address, port: config.listen.port })
  await once(api.server, 'listening')
  log(`console ${name} answers at https://${config.listen.address}:${config.listen.port}`)
  const over = new AbortController()
  const keeping = screens.keep(over.signal)
  await kept.keep(stopped)
  api.drain()
  log(`console ${name} is stopping; ${screens.count} screens are open`)
  await until(() => screens.count === 0, (config.drainSeconds ?? DRAIN_SECONDS) * 1000, pause)
  screens.endAll(endings.stopping)
  await until(() => screens.isSettled, FAREWELL_MS, pause)
  over.abort()
  await keeping
}

/** Opens the health listener for the life of the console. */
async function openMeter(
  opened: AsyncDisposableStack,
  { config, log }: Pick<RunningProgram, 'log'> & { readonly config: ConsoleConfig },
  measured: Omit<ConsoleFigures, 'conditions'>,
): Promise<ServerMeter> {
  const conditions = new Conditions(({ name, ok, message }) =>
    log(`${name} is ${ok ? 'ok again' : 'not ok'}: ${message}`),
  )
  const { meter, look } = consoleMeter({ ...measured, conditions })
  opened.use(
    await openHealth({
      server: 'console',
      listen: config.health,
      conditions,
      metrics: meter,
      look,
      log,
      now: () => performance.now(),
    }),
  )
  return meter
}

async function until(
  isSo: () => boolean,
  ms: number,
  pause: RunningProgram['pause'],
): Promise<void> {
  const deadline = performance.now() + ms
  while (!isSo() && performance.now() < deadline) await pause(50)
}

await runProgram(
  {
    name: 'skerry console-server',
    usage: USAGE,
    now: () => new Date(),
    async run(args, running) {
      const { config } = readOptions(args, USAGE, {
        config: { type: 'string', default: '/etc/skerry/console.json' },
      })
      await serve(await readConfig(config), running)
    },
  },
  process.argv.slice(2),
)
