import { ACCEPT, follow, reviveFault, TOKEN_HEADER } from '@skerry/cloud-client'
import { Fault, passing } from '@skerry/fault'

import type { CloudSide } from './cloud-side.ts'
import { resumeEvents, type Source } from './resume-events.ts'
import type { Happened } from './verbs.ts'

interface Event {
  readonly at?: string
  readonly vm?: string | null
  readonly vapp?: string | null
  readonly task?: string | null
  readonly host?: string | null
  readonly operation?: string
  readonly by?: string
  readonly [more: string]: unknown
}

/** The feed of a cloud, at whichever cell answers. */
export async function* followCloud(
  { profile, wait }: CloudSide,
  since: string | undefined,
): AsyncIterable<Happened> {
  const source: Source = {
    open: (last) => open(profile, last),
    isLost: (error) => error instanceof Fault && passing.has(error.kind),
    wait,
  }
  // As with vmd, 0 is before the first.
  for await (const each of resumeEvents(source, since === '0' ? '0-0' : since)) {
    const { id, event: type = '' } = each
    const what = JSON.parse(each.data) as Event
    yield { id, text: line(id, type, what), body: { id, type, ...what } }
  }
}

async function open(
  profile: CloudSide['profile'],
  last: string | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  const resumed = last === undefined ? {} : { 'last-event-id': last }
  const headers = { accept: ACCEPT, ...resumed }
  const asked = { method: 'GET', path: '/api/events', headers } as const
  const { status, chunks } = await follow(profile, { [TOKEN_HEADER]: profile.token }, asked)
  if (status === 200) return chunks
  const text = Buffer.concat(await Array.fromAsync(chunks)).toString('utf8')
  throw reviveFault({ status, headers: {}, text })
}

function line(id: string | undefined, type: string, event: Event): string {
  const { at, vm, vapp, host, operation, by } = event
  const of = vm ? `vm-${vm}` : vapp ? `vapp-${vapp}` : host ? `host ${host}` : undefined
  return [id, at, type, of, operation, by].filter((part) => part !== undefined).join('  ')
}
