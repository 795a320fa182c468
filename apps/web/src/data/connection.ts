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

export function markLost(): void {
  if (!connection.get().isLost) connection.set({ isLost: true, since: now() })
}

export function markLive(): void {
  if (!connection.get().isLost) return
  connection.set({ isLost: false, since: 0 })
  // Events were missed meanwhile only if the stream could not continue; what is visible is read again in any case.
  void queryClient.invalidateQueries()
}

requestEvents.onUnreachable = markLost
