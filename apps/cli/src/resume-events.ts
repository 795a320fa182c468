import { readEvents, type StreamEvent } from './event-stream.ts'

const RETRY_MS = 1000
const RETRIES_MAX = 30

export interface Source {
  /** The stream after this event, or from now on. */
  readonly open: (last: string | undefined) => Promise<AsyncIterable<Uint8Array>>
  /** Whether it broke off and may come back, rather than being refused. */
  readonly isLost: (error: unknown) => boolean
  readonly wait: (ms: number) => Promise<void>
}

/** The events of a stream that is taken up again after the last one that was seen; each is told with the place to go on from. */
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
      // Nobody waits for a server that was never there.
      if (!isLost(error) || last === since || failures >= RETRIES_MAX) throw error
    }
    failures += 1
    await wait(RETRY_MS)
  }
}
