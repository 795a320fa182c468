// A network server from its start to its stop.
import { readFileSync } from 'node:fs'

import { Fault } from '@skerry/fault'
import { listenTo, openDatabase, Pools } from '@skerry/postgres'
import { Conditions, openHealth, type Clock, type RunningProgram } from '@skerry/service'

import { remoteOf, type NetworkServerConfig } from './config.ts'
import { countChanges } from './database/changes.ts'
import { findZone } from './database/lease.ts'
import { networkMeter } from './meter.ts'
import { serveZone } from './zone/serve-zone.ts'
import { WakeUp } from './zone/wake-up.ts'

export interface NetworkServerContext extends Pick<RunningProgram, 'log' | 'pause'> {
  readonly clock: Clock
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Aborted when the server should stop. */
  readonly stopped: AbortSignal
}

/** One for the lease, one for passes, one for health. */
const CONNECTIONS = 3
const CHANNEL = 'skerry_network'
const RETRY_MS = 1_000

export async function serve(
  config: NetworkServerConfig,
  context: NetworkServerContext,
): Promise<void> {
  const { log, pause, clock, now, stopped } = context
  await using opened = new AsyncDisposableStack()
  const { name, database: url, data, tls, listen } = config
  const applicationName = `skerry network ${name}`
  const pools = new Pools()
  const database = openDatabase({
    url,
    applicationName,
    size: CONNECTIONS,
    counted: { in: pools, as: 'network' },
  })
  opened.defer(() => database.destroy())
  const conditions = new Conditions(({ name: condition, ok, message }) =>
    log(`${condition} is ${ok ? 'ok again' : 'not ok'}: ${message}`),
  )
  const state = (ok: boolean, message: string) => conditions.set('zone', ok, message, clock.now())
  state(false, 'the zone is not known yet')
  let zone: string | undefined
  let isOpen = false
  const { meter, look } = networkMeter({
    conditions,
    clock,
    pools,
    certificate: () => readFileSync(tls.certificate, 'utf8'),
    countChanges: async () =>
      zone === undefined ? { count: 0, oldestSeconds: 0 } : countChanges(database, zone),
    isOpen: () => isOpen,
  })
  const health = { server: 'network', listen: config.health, conditions, metrics: meter } as const
  opened.use(await openHealth({ ...health, look, log, now }))
  zone = await zoneOf(config, () => findZone(database, config.zone ?? 'default'), context)
  if (zone === undefined) return
  const changed = new WakeUp()
  const notified = () => changed.wake()
  const listening = listenTo({ url, applicationName, channel: CHANNEL, notified, pause }, stopped)
  log(`network server ${name} of zone ${config.zone ?? 'default'} begins`)
  await serveZone(
    {
      database,
      server: name,
      zone,
      remote: remoteOf(config),
      data,
      tls,
      listen,
      protected: config.protected ?? [],
      changed,
      pause,
      log,
      now,
      clock,
      state: (ok, message, open = false) => {
        isOpen = open
        state(ok, message)
      },
    },
    stopped,
  )
  await listening
}

/** The database may start later than this server. */
async function zoneOf(
  { zone = 'default' }: NetworkServerConfig,
  find: () => Promise<string | undefined>,
  { log, pause, stopped }: NetworkServerContext,
): Promise<string | undefined> {
  let isLogged = false
  while (!stopped.aborted) {
    try {
      const found = await find()
      if (found !== undefined) return found
      throw new Fault('not-found', `there is no network zone ${zone}`, {
        hint: 'set "zone" in the configuration to the name of an existing one, such as default',
      })
    } catch (error) {
      if (error instanceof Fault && error.kind === 'not-found') throw error
      if (!isLogged) log('the database does not answer yet', error)
      isLogged = true
      await pause(RETRY_MS, stopped)
    }
  }
  return undefined
}
