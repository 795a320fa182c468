// A reader of a cloud's events that is repeatedly disconnected in the middle, and resumes at the other cell.
import { setTimeout as sleep } from 'node:timers/promises'

import type { CloudClient } from '../../apps/cloud/test/cloud-client.ts'
import type { SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'

const COME_BACK_MS = 20
/** No connection is read for longer than this many events. */
const MOST = 20

export class FeedReader implements AsyncDisposable {
  /** The ids of all events, in order of arrival. */
  readonly seen: string[] = []
  links = 0
  readonly #clients: readonly CloudClient[]
  readonly #random: SeededRandom
  readonly #over = new AbortController()
  readonly #running: Promise<void>
  #last: string

  constructor(clients: readonly CloudClient[], since: string, random: SeededRandom) {
    this.#clients = clients
    this.#last = since
    this.#random = random
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      await this.#follow()
      await sleep(COME_BACK_MS)
    }
  }

  async #follow(): Promise<void> {
    const client = this.#clients[this.links % this.#clients.length]
    if (!client) throw new Error('there is no cell to ask')
    this.links += 1
    const stream = await client.open('GET', '/api/events', {
      headers: { 'last-event-id': this.#last },
    })
    if (stream.statusCode !== 200) throw new Error(`events: ${stream.statusCode}`)
    const cut = () => stream.destroy()
    this.#over.signal.addEventListener('abort', cut)
    // A signal that fired while the answer was awaited does not fire again.
    if (this.#over.signal.aborted) cut()
    const most = 1 + Math.floor(this.#random.between(0, MOST))
    let [text, taken] = ['', 0]
    try {
      for await (const chunk of stream.setEncoding('utf8')) {
        text += chunk as string
        const blocks = text.split('\n\n')
        // The last is not complete yet; what comes after the cut is lost with the connection.
        text = blocks.pop() ?? ''
        for (const block of blocks) {
          if (taken < most && this.#take(block)) taken += 1
        }
        if (taken >= most) return
      }
    } catch (error) {
      if (!this.#over.signal.aborted) throw error
    } finally {
      this.#over.signal.removeEventListener('abort', cut)
      cut()
    }
  }

  #take(block: string): boolean {
    const id = /^id: (.+)$/m.exec(block)?.[1]
    if (id === undefined || !/^event: /m.test(block)) return false
    this.#last = id
    this.seen.push(id)
    return true
  }
}
