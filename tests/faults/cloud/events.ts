// A tenant who reads the events from the first on, and resumes with its cursor whenever the stream ends.
import type { request } from 'node:https'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const COME_BACK_MS = 200

export class EventReader implements AsyncDisposable {
  /** The ids in the order of delivery. */
  readonly seen: string[] = []
  breaks = 0
  readonly #open: (after: string) => ReturnType<typeof request>
  readonly #over = new AbortController()
  readonly #running: Promise<void>

  /** `open` requests the stream after a cursor, each time at an address of its choice. */
  constructor(open: (after: string) => ReturnType<typeof request>) {
    this.#open = open
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#read().catch(() => undefined)
      this.breaks += 1
      await sleep(COME_BACK_MS)
    }
  }

  async #read(): Promise<void> {
    const requested = this.#open(this.seen.at(-1) ?? '0-0')
    const stop = () => requested.destroy()
    this.#over.signal.addEventListener('abort', stop, { once: true })
    try {
      const { promise, resolve, reject } = Promise.withResolvers<NodeJS.ReadableStream>()
      requested.on('error', reject)
      requested.on('response', (response) => {
        if (response.statusCode === 200) resolve(response)
        else reject(new Error(`the stream: ${response.statusCode}`))
      })
      requested.end()
      let [id, data] = ['', '']
      for await (const line of createInterface({ input: await promise })) {
        if (line.startsWith('id: ')) id = line.slice(4)
        if (line.startsWith('data: ')) data = line.slice(6)
        // An event counts once it is complete.
        if (line !== '') continue
        if (id !== '' && data !== '') this.seen.push(id)
        ;[id, data] = ['', '']
      }
    } finally {
      this.#over.signal.removeEventListener('abort', stop)
      requested.destroy()
    }
  }
}
