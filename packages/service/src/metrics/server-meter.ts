import { X509Certificate } from 'node:crypto'
import { readdirSync } from 'node:fs'

import type { Clock } from '../clock-and-ids.ts'
import type { Conditions } from './conditions.ts'
import {
  metricTable,
  type MeasuredServer,
  type MetricRow,
  type MetricName,
} from './metric-table.ts'
import { Metrics, type Labels, type MetricSample } from './metrics.ts'

/** The label of requests without a matching route. */
const NO_ROUTE = 'none'

export interface MeteredPool {
  readonly pool: string
  readonly busy: number
  readonly idle: number
  readonly waiting: number
}

/** The metrics of one server: only the rows of the table that name this server. */
export class ServerMeter {
  readonly #server: MeasuredServer
  readonly #metrics = new Metrics()
  #requests: ((labels: Labels) => void) | undefined
  #seconds: ((labels: Labels, seconds: number) => void) | undefined

  constructor(server: MeasuredServer, conditions: Pick<Conditions, 'list'>) {
    this.#server = server
    this.gauge('skerry_condition_ok', () =>
      conditions.list().map(({ name, ok }) => [{ condition: name }, Number(ok)]),
    )
    this.single('process_resident_memory_bytes', () => process.memoryUsage.rss())
    const started = Math.round(performance.timeOrigin / 1000)
    this.single('process_start_time_seconds', () => started)
    this.single('process_open_fds', () => readdirSync('/proc/self/fd').length)
  }

  counter(name: MetricName<'counter'>): (labels: Labels, by?: number) => void {
    const count = this.#metrics.counter(name, this.#row(name).help)
    return count
  }

  histogram(name: MetricName<'histogram'>): (labels: Labels, seconds: number) => void {
    const { help, labels } = this.#row(name)
    const observe = this.#metrics.histogram(name, help)
    // Present from the start: an alert cannot distinguish a missing metric from zero.
    if (labels.length === 0) observe({}, 0, 0)
    return observe
  }

  gauge(name: MetricName<'gauge'>, read: () => readonly MetricSample[]): void {
    this.#metrics.gauge(name, this.#row(name).help, read)
  }

  single(name: MetricName<'gauge'>, read: () => number): void {
    this.gauge(name, () => [[{}, read()]])
  }

  /** Records one response. `streamed`: its duration is not recorded. */
  request(
    route: string | undefined,
    { method, status, seconds }: { method: string; status: number; seconds: number | 'streamed' },
  ): void {
    const named = route ?? NO_ROUTE
    this.#requests ??= this.counter('skerry_requests_total')
    this.#requests({ route: named, method, status: `${Math.floor(status / 100)}xx` })
    this.#seconds ??= this.histogram('skerry_request_seconds')
    if (seconds !== 'streamed') this.#seconds({ route: named }, seconds)
  }

  /** The current certificates, PEM, by purpose. */
  certificates(read: () => Readonly<Record<string, string>>, clock: Clock): void {
    this.gauge('skerry_certificate_left_seconds', () =>
      Object.entries(read()).map(([certificate, pem]) => {
        const { validToDate } = new X509Certificate(pem)
        return [{ certificate }, (validToDate.getTime() - clock.now().getTime()) / 1000]
      }),
    )
  }

  pools(list: () => readonly MeteredPool[]): void {
    this.gauge('skerry_database_connections', () =>
      list().flatMap(({ pool, busy, idle }): MetricSample[] => [
        [{ pool, state: 'busy' }, busy],
        [{ pool, state: 'idle' }, idle],
      ]),
    )
    this.gauge('skerry_database_waiting', () =>
      list().map(({ pool, waiting }) => [{ pool }, waiting]),
    )
  }

  text(): string {
    return this.#metrics.text()
  }

  #row(name: keyof typeof metricTable): MetricRow {
    const row: MetricRow = metricTable[name]
    if (row.of.includes(this.#server)) return row
    throw new TypeError(`${name} is not a metric of ${this.#server}`)
  }
}
