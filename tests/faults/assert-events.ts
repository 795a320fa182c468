import assert from 'node:assert/strict'

import type { Seen } from '../accept/event-reader.ts'
import type { Answered } from './vmd-client.ts'

/** Every event from the first to the last, each once and in order. */
export function assertNoGap(seen: readonly Seen[]): void {
  const ids = seen.map(({ id }) => id)
  assert.deepEqual(
    ids,
    ids.map((_, at) => at + 1),
  )
}

/** Every change that was answered as done has its event, in the order of the responses for one VM. */
export function assertTold(answered: readonly Answered[], seen: readonly Seen[]): void {
  const upTo = new Map<string, number>()
  for (const change of answered) {
    const from = upTo.get(change.vm) ?? 0
    const at = seen.findIndex((event, index) => index >= from && reports(event, change))
    const reported = seen.filter(({ vm }) => vm === change.vm).map((event) => JSON.stringify(event))
    assert.ok(at !== -1, `no event reports ${JSON.stringify(change)}:\n  ${reported.join('\n  ')}`)
    upTo.set(change.vm, at + 1)
  }
}

function reports(event: Seen, { vm, type, state }: Answered): boolean {
  if (event.vm !== vm) return false
  // Changes while vmd was down are reported as one: a new or replaced VM reports its power too.
  if (state !== undefined)
    return ['vm.power', 'vm.created', 'vm.changed'].includes(event.type) && event.state === state
  return event.type === type
}

/** No client asked these guests to stop before the end. */
export function assertRanThrough(guests: readonly string[], seen: readonly Seen[]): void {
  for (const guest of guests) {
    const states = seen.filter(({ vm }) => vm === guest).flatMap(({ state }) => state ?? [])
    const stops = states
      .slice(1)
      .filter((state) => state === 'powered off' || state === 'suspended')
    assert.deepEqual(stops, ['powered off'], `${guest} was ${states.join(', then ')}`)
  }
}
