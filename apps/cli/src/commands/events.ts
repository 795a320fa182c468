import { command, type World } from '../command.ts'
import { readEvents } from '../event-stream.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { wholeNumber } from '../number.ts'
import { printable } from '../table.ts'

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

export const events = command({
  name: 'events',
  usage: '',
  summary: 'what happens to VMs, as it happens; goes on where it was when vmd restarts',
  examples: ['skerry events', 'skerry events --since 0 --count 20 --json'],
  next: 'skerry info VM tells more of a VM that an event names',
  options: {
    since: { type: 'string', value: 'ID', doc: 'first all that happened after this event' },
    count: { type: 'string', value: 'N', doc: 'end after so many' },
  },
  async run(world, { options: { since, count }, json }) {
    let left = wholeNumber('--count', count) ?? Infinity
    for await (const event of follow(world, since)) {
      world.print(json ? JSON.stringify(event) : line(event))
      left -= 1
      if (left === 0) return
    }
  },
})

/** The stream, taken up again after the last event that was seen. */
async function* follow({ api, wait }: World, since: string | undefined): AsyncIterable<Event> {
  let last = since
  let failures = 0
  for (;;) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      for await (const { id, data } of readEvents(api.follow(path('events'), headers))) {
        failures = 0
        last = id ?? last
        if (data !== '') yield JSON.parse(data) as Event
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
  return printable([id, at, type, vm, what].filter((part) => part !== undefined).join('  '))
}
