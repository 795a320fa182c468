// A reader of the event stream that reconnects whenever the stream ends, as a browser's EventSource does.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { until, type LabHost } from '@skerry/lab'

import { BASE } from './curl.ts'

export interface Seen {
  readonly id: number
  readonly type: string
  readonly vm?: string
  readonly state?: string
  readonly operation?: { readonly name: string; readonly progress: number }
}

const COME_BACK_MS = 50

export class EventReader implements AsyncDisposable {
  readonly seen: Seen[] = []
  readonly #host: LabHost
  readonly #ended = new AbortController()
  readonly #running: Promise<void>
  #last: string
  #stop: (() => void) | undefined

  constructor(host: LabHost, since: number) {
    this.#host = host
    this.#last = String(since)
    this.#running = this.#run()
  }

  /** Waits for such an event, and returns the first. */
  untilSeen(what: string, matches: (event: Seen) => boolean): Promise<Seen> {
    return until(`the stream sends ${what}`, () => this.seen.find(matches), 60_000)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    this.#stop?.()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      await this.#connect()
      await sleep(COME_BACK_MS)
    }
  }

  async #connect(): Promise<void> {
    const words = ['curl', '-sNf', '-H', `Last-Event-ID: ${this.#last}`, `${BASE}/api/events`]
    const child = this.#host.spawn(words, { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#stop = () => void child.kill('SIGKILL')
    const exited = once(child, 'exit')
    if (!child.stdout) throw new Error('curl has no output')
    let [id, data] = ['', '']
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('id: ')) id = line.slice(4)
      if (line.startsWith('data: ')) data = line.slice(6)
      // An event counts once it is complete.
      if (line !== '') continue
      if (id !== '') this.#last = id
      if (data !== '') this.seen.push(JSON.parse(data) as Seen)
      ;[id, data] = ['', '']
    }
    await exited
  }
}
