import { Fault } from '@skerry/fault'
import type { Pools } from '@skerry/postgres'
import { ServerMeter, type Clock, type Conditions } from '@skerry/service'

import type { RunFigure } from './store/run-figures.ts'

export interface WorkflowFigures {
  /** `workflow` serves the API and may run workflows too; `worker` only runs them. */
  readonly server: 'workflow' | 'worker'
  readonly conditions: Conditions
  readonly clock: Clock
  readonly pools: Pools
  /** PEM certificates by purpose. */
  readonly certificates: () => Readonly<Record<string, string>>
  readonly readRuns: () => Promise<readonly RunFigure[]>
  readonly isTemporalReached: () => Promise<boolean>
}

/** The reason label of a rejected login. */
const reasons = { unauthenticated: 'credentials', 'too-many': 'attempts' } as const

/** The metrics of a workflow server. */
export class WorkflowMeter {
  readonly server: ServerMeter
  readonly #measured: WorkflowFigures
  readonly #refused: ReturnType<ServerMeter['counter']> | undefined
  #runs: readonly RunFigure[] = []
  #isTemporalReached = false

  constructor(measured: WorkflowFigures) {
    const { server, conditions, clock, pools, certificates } = measured
    this.#measured = measured
    const meter = new ServerMeter(server, conditions)
    this.server = meter
    meter.certificates(certificates, clock)
    meter.pools(() => pools.count())
    meter.single('skerry_temporal_up', () => Number(this.#isTemporalReached))
    meter.gauge('skerry_runs', () => this.#runs.map(({ state, count }) => [{ state }, count]))
    meter.gauge('skerry_run_oldest_seconds', () =>
      this.#runs.map(({ state, oldestSeconds }) => [{ state }, oldestSeconds]),
    )
    if (server === 'workflow') {
      this.#refused = meter.counter('skerry_logins_refused_total')
      for (const reason of Object.values(reasons)) this.#refused({ reason }, 0)
    }
  }

  /** Wraps a credential check and counts rejected logins. */
  counted =
    <Asked extends readonly unknown[], Found>(check: (...requested: Asked) => Promise<Found>) =>
    async (...requested: Asked): Promise<Found> => {
      try {
        const found = await check(...requested)
        if (found === undefined) this.#refused?.({ reason: reasons.unauthenticated })
        return found
      } catch (error) {
        const kind = error instanceof Fault ? error.kind : undefined
        if (kind === 'unauthenticated' || kind === 'too-many') {
          this.#refused?.({ reason: reasons[kind] })
        }
        throw error
      }
    }

  /** Probes the database and Temporal. Lists and exports work without Temporal; a worker cannot work without it. */
  look = async (): Promise<void> => {
    const { server, conditions, clock, readRuns, isTemporalReached } = this.#measured
    const [runs, reached] = await Promise.allSettled([readRuns(), isTemporalReached()])
    this.#isTemporalReached = reached.status === 'fulfilled' && reached.value
    const isOk = runs.status === 'fulfilled'
    if (isOk) this.#runs = runs.value
    const why = isOk
      ? 'PostgreSQL is reachable'
      : `PostgreSQL is not reachable: ${String(runs.reason)}`
    conditions.set('database', isOk, why, clock.now())
    if (server === 'workflow') return
    const message = this.#isTemporalReached ? 'Temporal is reachable' : 'Temporal is not reachable'
    conditions.set('temporal', this.#isTemporalReached, message, clock.now())
  }
}
