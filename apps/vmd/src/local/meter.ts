import type { Host } from '@skerry/engine'
import { Metrics } from '@skerry/service'
import { powerStates } from '@skerry/vm'

import type { Journal } from '../journal/journal.ts'
import type { Operations } from '../journal/operations.ts'

/** The label of requests without a route. */
const NO_ROW = 'none'

/** vmd's own metrics. */
export class Meter {
  readonly #metrics = new Metrics()
  readonly #requests
  readonly #seconds
  #streams = 0

  constructor(host: Host, journal: Journal, operations: Operations) {
    const metrics = this.#metrics
    this.#requests = metrics.counter('skerry_requests_total', 'Requests answered.')
    this.#seconds = metrics.histogram(
      'skerry_request_seconds',
      'How long answers took; event streams are not counted.',
    )
    metrics.gauge('skerry_vms', 'VMs by power.', () => {
      const powers = [...journal.known.vms.values()].map(({ power }) => power)
      return powerStates.map((power) => [{ power }, powers.filter((one) => one === power).length])
    })
    const single = (name: string, help: string, read: () => number) =>
      metrics.gauge(name, help, () => [[{}, read()]])
    single('skerry_event_streams', 'Readers of the event stream.', () => this.#streams)
    single('skerry_operations_running', 'Operations under way.', () => operations.running)
    single('skerry_journal_last_event', 'Id of the newest event.', () => journal.last)
    single('skerry_libvirt_up', 'Whether libvirt answers.', () => (host.link.isOpen ? 1 : 0))
  }

  get streams(): number {
    return this.#streams
  }

  /** Counts one event stream until it is disposed of. */
  openStream(): Disposable {
    this.#streams++
    return { [Symbol.dispose]: () => void this.#streams-- }
  }

  observe(name: string | undefined, method: string, status: number, seconds: number): void {
    const route = name ?? NO_ROW
    this.#requests({ route, method, status })
    if (route !== 'watchEvents') this.#seconds({ route }, seconds)
  }

  text(): string {
    return this.#metrics.text()
  }
}
