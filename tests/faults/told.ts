import assert from 'node:assert/strict'

import type { Seen } from '../accept/event-reader.ts'
import type { Answered } from './vmd-client.ts'

/** Every event from the first to the last, each once and in its order. */
export function assertNoGap(seen: readonly Seen[]): void {
  const ids = seen.map(({ id }) => id)
  assert.deepEqual(
    ids,
    ids.map((_, at) => at + 1),
  )
}

/** Every change that was answered as done has its event, in the order of the answers of one VM. */
export function assertTold(answered: readonly Answered[], seen: readonly Seen[]): void {
  const upTo = new Map<string, number>()
  for (const change of answered) {
    const from = upTo.get(change.vm) ?? 0
    const at = seen.findIndex((event, index) => index >= from && tells(event, change))
    const told = seen.filter(({ vm }) => vm === change.vm).map((event) => JSON.stringify(event))
    assert.ok(at !== -1, `no event tells ${JSON.stringify(change)}:\n  ${told.join('\n  ')}`)
    upTo.set(change.vm, at + 1)
  }
}

function tells(event: Seen, { vm, type, state }: Answered): boolean {
  if (event.vm !== vm) return false
  // What happened while vmd was away is told as one: a VM that is new, or another, tells its power too.
  if (state !== undefined)
    return ['vm.power', 'vm.created', 'vm.changed'].includes(event.type) && event.state === state
  return event.type === type
}

/** Nobody asked these guests to stop before the end. */
export function assertRanThrough(guests: readonly string[], seen: readonly Seen[]): void {
  for (const guest of guests) {
    const states = seen.filter(({ vm }) => vm === guest).flatMap(({ state }) => state ?? [])
    const stops = states
      .slice(1)
      .filter((state) => state === 'powered off' || state === 'suspended')
    assert.deepEqual(stops, ['powered off'], `${guest} was ${states.join(', then ')}`)
  }
}
