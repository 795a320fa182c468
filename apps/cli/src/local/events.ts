import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { path } from '../vms/local-client.ts'
import { resumeEvents, type Source } from '../vms/resume-events.ts'
import type { Happened } from '../vms/vm-backend.ts'

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
  { api, wait }: Pick<CliContext, 'api' | 'wait'>,
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
