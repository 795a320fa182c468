import { ACCEPT, follow, reviveFault, TOKEN_HEADER, wholeBody } from '@skerry/cloud-client'
import { Fault, retryableKinds } from '@skerry/fault'

import type { CloudSession } from '../vms/cloud-session.ts'
import { resumeEvents, type Source } from '../vms/resume-events.ts'
import type { Happened } from '../vms/vm-backend.ts'

interface Event {
  readonly at?: string
  readonly vm?: string | null
  readonly vapp?: string | null
  readonly task?: string | null
  readonly host?: string | null
  readonly operation?: string
  readonly by?: string
  /** What a task waits for, in task.waiting events. */
  readonly words?: string
  readonly [more: string]: unknown
}

/** An event as it is printed with --json. */
export type PrintedEvent = Event & { readonly id: string | undefined; readonly type: string }

/** The event feed of a cloud, from any of its cells. */
export const followCloud = (
  session: CloudSession,
  since: string | undefined,
): AsyncIterable<Happened> => read(session, since, '/api/events')

/** The events after this one, or all that are kept, until now. */
export async function* eventsUntilNow(
  session: CloudSession,
  since: string | undefined,
): AsyncIterable<PrintedEvent> {
  for await (const { body } of read(session, since ?? '0', '/api/events?until=now')) {
    if (body.type === 'end') return
    yield body
  }
}

async function* read(
  { profile, wait }: CloudSession,
  since: string | undefined,
  path: string,
): AsyncIterable<Happened & { readonly body: PrintedEvent }> {
  const source: Source = {
    open: (last) => open(profile, path, last),
    isLost: (error) => error instanceof Fault && retryableKinds.has(error.kind),
    wait,
  }
  // As with vmd, 0 means before the first event.
  for await (const each of resumeEvents(source, since === '0' ? '0-0' : since)) {
    const { id, event: type = '' } = each
    const what = JSON.parse(each.data) as Event
    yield { id, text: line(id, type, what), body: { id, type, ...what } }
  }
}

async function open(
  profile: CloudSession['profile'],
  path: string,
  last: string | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  const resumed = last === undefined ? {} : { 'last-event-id': last }
  const headers = { accept: ACCEPT, ...resumed }
  const requested = { method: 'GET', path, headers } as const
  const response = await follow(profile, { [TOKEN_HEADER]: profile.token }, requested)
  if (response.status === 200) return response.chunks
  throw reviveFault({ ...response, text: (await wholeBody(response)).toString('utf8') })
}

function line(id: string | undefined, type: string, event: Event): string {
  const { at, vm, vapp, host, operation, by, words } = event
  const of = vm ? `vm-${vm}` : vapp ? `vapp-${vapp}` : host ? `host ${host}` : undefined
  const waits = type === 'task.waiting' ? words : undefined
  return [id, at, type, of, operation, by, waits].filter((part) => part !== undefined).join('  ')
}
