import { readEvents, type StreamEvent } from './event-stream.ts'

const RETRY_MS = 1000
const RETRIES_MAX = 30

export interface Source {
  /** Opens the stream after this event, or from now on. */
  readonly open: (last: string | undefined) => Promise<AsyncIterable<Uint8Array>>
  /** Whether the connection was lost and may come back, as opposed to a rejection. */
  readonly isLost: (error: unknown) => boolean
  readonly wait: (ms: number) => Promise<void>
}

/** Reads events and reconnects after the last one seen; each event has the id to resume from. */
export async function* resumeEvents(
  { open, isLost, wait }: Source,
  since: string | undefined,
): AsyncIterable<StreamEvent> {
  let last = since
  let failures = 0
  for (;;) {
    try {
      for await (const each of readEvents(await open(last))) {
        failures = 0
        last = each.id ?? last
        if (each.data !== '') yield { ...each, id: last }
      }
    } catch (error) {
      // Do not retry a server that never responded.
      if (!isLost(error) || last === since || failures >= RETRIES_MAX) throw error
    }
    failures += 1
    await wait(RETRY_MS)
  }
}
