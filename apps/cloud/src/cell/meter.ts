import { Fault } from '@skerry/fault'
import type { Pools } from '@skerry/postgres'
import { Conditions, ServerMeter, type Clock, type Condition } from '@skerry/service'

import type { CheckCredentials } from '../auth/credentials.ts'
import { hostStates, type Figures } from '../database/figures.ts'
import type { UsageMeans } from '../metering/read-means.ts'
import { webhookStates, type WebhookStates } from '../webhooks/read-states.ts'

export interface CellFigures {
  readonly conditions: Conditions
  readonly clock: Clock
  readonly pools: Pools
  /** PEM, by purpose. */
  readonly certificates: () => Readonly<Record<string, string>>
  readonly readFigures: () => Promise<Figures>
  readonly readUsageMeans: () => Promise<UsageMeans>
  readonly readWebhookStates: () => Promise<WebhookStates>
  readonly isTemporalReached: () => Promise<boolean>
}

/** What happened to a message of a webhook. */
const messageResults = ['taken', 'refused', 'unsent'] as const
/** Fault kind → metric label of a refused login. */
const reasons = { unauthenticated: 'credentials', 'too-many': 'attempts' } as const

/** The metrics of a cell. */
export class CellMeter {
  readonly server: ServerMeter
  readonly #measured: CellFigures
  readonly #refused
  readonly #sent
  readonly #delay
  #figures: Figures = { tasks: [], hosts: [] }
  #usage: UsageMeans = { summedUpSeconds: 0, means: [] }
  #webhooks: WebhookStates = { counts: {}, failing: [] }
  /** A cell without Temporal still accepts requests: this does not make it unready. */
  readonly #temporal = new Conditions()
  #feeds: () => number = () => 0

  constructor(measured: CellFigures) {
    const { conditions, clock, pools, certificates } = measured
    this.#measured = measured
    const meter = new ServerMeter('cell', conditions)
    this.server = meter
    meter.certificates(certificates, clock)
    meter.pools(() => pools.count())
    meter.single('skerry_temporal_up', () => Number(this.#isTemporalReached()))
    meter.single('skerry_event_streams', () => this.#feeds())
    this.#refused = meter.counter('skerry_logins_refused_total')
    for (const reason of Object.values(reasons)) this.#refused({ reason }, 0)
    this.#sent = meter.counter('skerry_webhook_messages_total')
    for (const result of messageResults) this.#sent({ result }, 0)
    this.#delay = meter.histogram('skerry_queue_delay_seconds')
    this.#showFigures(meter)
  }

  /** Sets the source for the number of open event feeds. */
  countFeeds(count: () => number): void {
    this.#feeds = count
  }

  /** Records how long a task waited before it began. */
  began = (seconds: number): void => this.#delay({}, seconds)

  /** Counts a message of a webhook. */
  sentWebhook = (result: (typeof messageResults)[number]): void => this.#sent({ result })

  /** Wraps a check so that refused logins are counted. */
  counted =
    (check: CheckCredentials): CheckCredentials =>
    async (...requested) => {
      try {
        return await check(...requested)
      } catch (error) {
        const kind = error instanceof Fault ? error.kind : undefined
        if (kind === 'unauthenticated' || kind === 'too-many') {
          this.#refused({ reason: reasons[kind] })
        }
        throw error
      }
    }

  /** All conditions of this cell, with that of Temporal. */
  readonly report = (): readonly Condition[] => [
    ...this.#measured.conditions.list(),
    ...this.#temporal.list(),
  ]

  /** Queries the database and Temporal. */
  look = async (): Promise<void> => {
    const { conditions, clock, readFigures, readUsageMeans, isTemporalReached } = this.#measured
    const [figures, usage, webhooks, reached] = await Promise.allSettled([
      readFigures(),
      readUsageMeans(),
      this.#measured.readWebhookStates(),
      isTemporalReached(),
    ])
    const isReached = reached.status === 'fulfilled' && reached.value
    const answers = isReached ? 'Temporal answers' : 'Temporal does not answer: no task starts'
    this.#temporal.set('temporal', isReached, answers, clock.now())
    const isOk = figures.status === 'fulfilled'
    if (isOk) this.#figures = figures.value
    if (usage.status === 'fulfilled') this.#usage = usage.value
    if (webhooks.status === 'fulfilled') this.#webhooks = webhooks.value
    const why = isOk
      ? 'PostgreSQL answers'
      : `PostgreSQL does not answer: ${String(figures.reason)}`
    conditions.set('database', isOk, why, clock.now())
  }

  #isTemporalReached(): boolean {
    const [temporal] = this.#temporal.list()
    return temporal?.ok ?? false
  }

  #showFigures(meter: ServerMeter): void {
    meter.gauge('skerry_tasks', () =>
      this.#figures.tasks.map(({ state, count }) => [{ state }, count]),
    )
    meter.gauge('skerry_task_oldest_seconds', () =>
      this.#figures.tasks.map(({ state, oldestSeconds }) => [{ state }, oldestSeconds]),
    )
    meter.gauge('skerry_hosts', () =>
      hostStates.map((state) => {
        const count = this.#figures.hosts.filter((host) => host.state === state).length
        return [{ state }, count]
      }),
    )
    meter.gauge('skerry_org_usage', () =>
      this.#usage.means.map(({ org, meter: name, mean }) => [{ org, meter: name }, mean]),
    )
    meter.gauge('skerry_webhooks', () =>
      webhookStates.map((state) => [{ state }, this.#webhooks.counts[state] ?? 0]),
    )
    meter.gauge('skerry_webhook_failing_seconds', () =>
      this.#webhooks.failing.map(({ org, seconds }) => [{ org }, seconds]),
    )
    meter.single('skerry_usage_summed_up_seconds', () => this.#usage.summedUpSeconds)
    meter.gauge('skerry_host_unheard_seconds', () =>
      this.#figures.hosts.flatMap(({ name, unheardSeconds }) =>
        unheardSeconds === null ? [] : [[{ host: name }, unheardSeconds] as const],
      ),
    )
  }
}
