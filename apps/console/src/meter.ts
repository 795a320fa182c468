import type { Pools } from '@skerry/postgres'
import { ServerMeter, type Clock, type Conditions } from '@skerry/service'

export interface ConsoleFigures {
  readonly conditions: Conditions
  readonly clock: Clock
  readonly pools: Pools
  /** PEM, by purpose. */
  readonly certificates: () => Readonly<Record<string, string>>
  readonly screens: { readonly count: number }
  /** A trivial query to the database. */
  readonly askDatabase: () => Promise<unknown>
}

/** The metrics of a console, and its readiness check. */
export function consoleMeter(measured: ConsoleFigures): {
  readonly meter: ServerMeter
  readonly look: () => Promise<void>
} {
  const { conditions, clock, pools, certificates, screens, askDatabase } = measured
  const meter = new ServerMeter('console', conditions)
  meter.certificates(certificates, clock)
  meter.pools(() => pools.count())
  meter.single('skerry_screens_open', () => screens.count)
  const look = () =>
    askDatabase().then(
      () => conditions.set('database', true, 'PostgreSQL answers', clock.now()),
      (error: unknown) =>
        conditions.set(
          'database',
          false,
          `PostgreSQL does not answer: ${String(error)}`,
          clock.now(),
        ),
    )
  return { meter, look }
}
