import { requestEvents } from '../api/client.ts'
import { now } from '../api/clock-and-ids.ts'
import { queryClient } from './query-client.ts'
import { createStore } from './store.ts'

export interface ConnectionState {
  readonly isLost: boolean
  /** Since when the cloud does not answer. */
  readonly since: number
}

export const connection = createStore<ConnectionState>({ isLost: false, since: 0 })

/** Whether events arrive. What they report needs no polling. */
export const isStreamAlive = createStore(false)
/** Whether the user may not follow the events: what is visible is read again at an interval. */
export const isStreamRefused = createStore(false)

// Each is over by itself: an answer to a request does not bring lost events back, and a stream that never ended opens no more.
let isStreamLost = false
let isAnswerMissing = false

function update(): void {
  const isLost = isStreamLost || isAnswerMissing
  if (isLost === connection.get().isLost) return
  connection.set({ isLost, since: isLost ? now() : 0 })
  // Events were missed meanwhile only if the stream could not continue; what is visible is read again in any case.
  if (!isLost) void queryClient.invalidateQueries()
}

/** The event stream ended. */
export function markLost(): void {
  isStreamLost = true
  update()
}

/** A stream was opened or refused, which is an answer too. */
export function markLive(): void {
  isStreamLost = false
  isAnswerMissing = false
  update()
}

requestEvents.onUnreachable = () => {
  isAnswerMissing = true
  update()
}
requestEvents.onAnswered = () => {
  isAnswerMissing = false
  update()
}
