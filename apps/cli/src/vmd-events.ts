import type { World } from './command.ts'
import { readEvents } from './event-stream.ts'
import { Failure } from './failure.ts'
import { path } from './local-client.ts'
import type { Happened } from './verbs.ts'

const RETRY_MS = 1000
const RETRIES_MAX = 30

interface Event {
  readonly id: number
  readonly at: string
  readonly type: string
  readonly vm?: string
  readonly state?: string
  readonly by?: string
  readonly operation?: { readonly name: string; readonly state: string }
}

/** The stream, taken up again after the last event that was seen. */
export async function* followVmd(
  { api, wait }: Pick<World, 'api' | 'wait'>,
  since: string | undefined,
): AsyncIterable<Happened> {
  let last = since
  let failures = 0
  for (;;) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      for await (const { id, data } of readEvents(api.follow(path('events'), headers))) {
        failures = 0
        last = id ?? last
        if (data === '') continue
        const body = JSON.parse(data) as Event
        yield { id: last, text: line(body), body }
      }
    } catch (error) {
      const isLost = error instanceof Failure && error.reason === 'unreachable'
      // Nobody waits for a daemon that was never there.
      if (!isLost || last === since || failures >= RETRIES_MAX) throw error
    }
    failures += 1
    await wait(RETRY_MS)
  }
}

function line({ id, at, type, vm, state, by, operation }: Event): string {
  const what = state ?? by ?? (operation && `${operation.name} ${operation.state}`)
  return [id, at, type, vm, what].filter((part) => part !== undefined).join('  ')
}
