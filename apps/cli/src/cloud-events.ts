import { ACCEPT, follow, NoAnswer, reviveFault, TOKEN_HEADER } from '@skerry/cloud-client'

import type { CloudSide } from './cloud-side.ts'
import { readEvents } from './event-stream.ts'
import type { Happened } from './verbs.ts'

const RETRY_MS = 1000
const RETRIES_MAX = 30

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

/** The feed of a cloud, taken up again at whichever cell answers, after the last event that was seen. */
export async function* followCloud(
  { profile, wait }: CloudSide,
  since: string | undefined,
): AsyncIterable<Happened> {
  // As with vmd, 0 is before the first.
  let last = since === '0' ? '0-0' : since
  let failures = 0
  for (;;) {
    try {
      for await (const { id, event = '', data } of readEvents(await open(profile, last))) {
        failures = 0
        last = id ?? last
        if (data === '') continue
        const what = JSON.parse(data) as Event
        yield { id: last, text: line(last, event, what), body: { id: last, type: event, ...what } }
      }
    } catch (error) {
      if (!(error instanceof NoAnswer) || last === since || failures >= RETRIES_MAX) throw error
    }
    failures += 1
    await wait(RETRY_MS)
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
