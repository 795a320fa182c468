import type { World } from './command.ts'
import { Failure } from './failure.ts'
import { path } from './local-client.ts'
import { resumeEvents, type Source } from './resume-events.ts'
import type { Happened } from './verbs.ts'

interface Event {
  readonly id: number
  readonly at: string
  readonly type: string
  readonly vm?: string
  readonly state?: string
  readonly by?: string
  readonly operation?: { readonly name: string; readonly state: string }
}

export async function* followVmd(
  { api, wait }: Pick<World, 'api' | 'wait'>,
  since: string | undefined,
): AsyncIterable<Happened> {
  const source: Source = {
    open: async (last) =>
      api.follow(path('events'), last === undefined ? {} : { 'last-event-id': last }),
    isLost: (error) => error instanceof Failure && error.reason === 'unreachable',
    wait,
  }
  for await (const { id, data } of resumeEvents(source, since)) {
    const body = JSON.parse(data) as Event
    yield { id, text: line(body), body }
  }
}

function line({ id, at, type, vm, state, by, operation }: Event): string {
  const what = state ?? by ?? (operation && `${operation.name} ${operation.state}`)
  return [id, at, type, vm, what].filter((part) => part !== undefined).join('  ')
}
