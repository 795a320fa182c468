import type { Pools } from '@skerry/postgres'
import { ServerMeter, type Clock, type Conditions } from '@skerry/service'

import type { WaitingChanges } from './database/changes.ts'

export interface NetworkFigures {
  readonly conditions: Conditions
  readonly clock: Clock
  readonly pools: Pools
  /** PEM. */
  readonly certificate: () => string
  /** Asks the database. */
  readonly countChanges: () => Promise<WaitingChanges>
  /** Whether this server holds its zone and hosts can connect. */
  readonly isOpen: () => boolean
}

/** The metrics of a network server, and its readiness check. */
export function networkMeter(measured: NetworkFigures): {
  readonly meter: ServerMeter
  readonly look: () => Promise<void>
} {
  const { conditions, clock, pools, certificate, countChanges, isOpen } = measured
  const meter = new ServerMeter('network', conditions)
  let waiting: WaitingChanges = { count: 0, oldestSeconds: 0 }
  meter.certificates(() => ({ network: certificate() }), clock)
  meter.pools(() => pools.count())
  meter.single('skerry_network_zone_open', () => Number(isOpen()))
  meter.single('skerry_network_changes', () => waiting.count)
  meter.single('skerry_network_change_oldest_seconds', () => waiting.oldestSeconds)
  const look = async () => {
    try {
      waiting = await countChanges()
      conditions.set('database', true, 'PostgreSQL answers', clock.now())
    } catch (error) {
      const message = `PostgreSQL does not answer: ${String(error)}`
      conditions.set('database', false, message, clock.now())
    }
  }
  return { meter, look }
}
