/** Label names and values; values come from our own tables, never from a request. */
export type Labels = Readonly<Record<string, string | number>>
export type MetricSample = readonly [labels: Labels, value: number]

const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60] as const

interface Family {
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly lines: () => string[]
}

/** A registry of metrics in the Prometheus text format 0.0.4. */
export class Metrics {
  readonly #families = new Map<string, Family>()

  counter(name: string, help: string): (labels: Labels, by?: number) => void {
    const all = new Map<string, { labels: Labels; count: number }>()
    this.#families.set(name, {
      help,
      type: 'counter',
      lines: () =>
        [...all.values()].map(({ labels, count }) => `${name}${render(labels)} ${count}`),
    })
    return (labels, by = 1) => {
      const seen = seenOf(all, labels, () => ({ labels, count: 0 }))
      seen.count += by
    }
  }

  /** Read at each scrape. */
  gauge(name: string, help: string, read: () => readonly MetricSample[]): void {
    this.#families.set(name, {
      help,
      type: 'gauge',
      lines: () => read().map(([labels, value]) => `${name}${render(labels)} ${value}`),
    })
  }

  histogram(name: string, help: string): (labels: Labels, seconds: number, times?: number) => void {
    const all = new Map<string, { labels: Labels; buckets: number[]; sum: number; count: number }>()
    this.#families.set(name, {
      help,
      type: 'histogram',
      lines: () =>
        [...all.values()].flatMap(({ labels, buckets, sum, count }) => [
          ...SECONDS.map((le, at) => `${name}_bucket${render({ ...labels, le })} ${buckets[at]}`),
          `${name}_bucket${render({ ...labels, le: '+Inf' })} ${count}`,
          `${name}_sum${render(labels)} ${sum}`,
          `${name}_count${render(labels)} ${count}`,
        ]),
    })
    return (labels, seconds, times = 1) => {
      const buckets = () => SECONDS.map(() => 0)
      const seen = seenOf(all, labels, () => ({ labels, buckets: buckets(), sum: 0, count: 0 }))
      for (let at = SECONDS.length - 1; at >= 0 && seconds <= (SECONDS[at] ?? 0); at--) {
        seen.buckets[at] = (seen.buckets[at] ?? 0) + times
      }
      seen.sum += seconds * times
      seen.count += times
    }
  }

  text(): string {
    const blocks = [...this.#families].map(([name, { help, type, lines }]) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()].join('\n'),
    )
    return `${blocks.join('\n')}\n`
  }
}

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** All samples of a family have the same labels, so the values identify a sample. */
function seenOf<Seen>(all: Map<string, Seen>, labels: Labels, make: () => Seen): Seen {
  let key = ''
  for (const name in labels) key += `${labels[name]}\n`
  const known = all.get(key)
  if (known) return known
  const seen = make()
  all.set(key, seen)
  return seen
}

function render(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

const escape = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
