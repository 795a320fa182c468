// Readers of event feeds in their own thread: rejected ones retry at the requested time.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

export interface Readers {
  readonly port: number
  readonly ca: string
  readonly tokens: readonly string[]
  readonly readers: number
  /** The time within which all rejected readers retry once. */
  readonly againMs: number
}

/** The number of responses per status; sent once all have arrived. */
export type Came = Readonly<Record<number, number>>

const AT_ONCE = 64
const BACK_AT_ONCE = 16
const { port, ca, tokens, readers, againMs } = workerData as Readers
const agent = new Agent({ keepAlive: true, maxSockets: 200 + AT_ONCE, ca })
const counts: Record<number, number> = {}
let next = 0

async function come(): Promise<void> {
  const token = tokens[next++ % tokens.length] ?? ''
  const headers = { accept: 'application/*+xml;version=5.1', 'x-cloud-authorization': token }
  const sent = request({ host: '127.0.0.1', port, path: '/api/events', agent, headers })
  sent.on('error', () => undefined)
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.on('error', () => undefined).resume()
  const { statusCode: status = 0 } = response
  counts[status] = (counts[status] ?? 0) + 1
  if (status !== 200) await once(response, 'end')
}

const arrive = async () => {
  while (next < readers) await come()
}
await Promise.all(Array.from({ length: AT_ONCE }, arrive))
parentPort?.postMessage({ ...counts } satisfies Came, [])
const back = async () => {
  for (;;) {
    await come().catch(() => undefined)
    await sleep((againMs / readers) * BACK_AT_ONCE)
  }
}
await Promise.all(Array.from({ length: BACK_AT_ONCE }, back))
