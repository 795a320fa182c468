// A change that the user asks for: one idempotency key per intent, a message about its result, and fresh data after it.
import { useState } from 'react'

import { request, type RequestOptions } from '../api/client.ts'
import { notify, notifyError } from './notifications.ts'
import { queryClient } from './query-client.ts'

export interface ChangeRequest<T> {
  readonly href: string
  readonly method: NonNullable<RequestOptions['method']>
  readonly body?: unknown
  readonly headers?: RequestOptions['headers']
  /** Shown when it is done. */
  readonly success: string
  /** Shown with the reason when it is refused. */
  readonly failure: string
  readonly onDone?: (result: T) => void
}

/** Removes what a row of a list shows. */
export const removalOf = (name: string, href: string): ChangeRequest<unknown> => ({
  href,
  method: 'DELETE',
  success: `Removed ${name}`,
  failure: `${name} was not removed`,
})

export async function makeChange<T>(change: ChangeRequest<T>): Promise<T> {
  try {
    const result = await request<T>(change.href, {
      method: change.method,
      ...(change.body !== undefined && { body: change.body }),
      ...(change.headers && { headers: change.headers }),
    })
    notify({ tone: 'success', title: change.success })
    change.onDone?.(result)
    return result
  } catch (error) {
    notifyError(change.failure, error)
    throw error
  } finally {
    void queryClient.invalidateQueries()
  }
}

/** Makes changes one at a time; errors are reported, so that callers need not handle them. */
export function useChange<T = unknown>() {
  const [isPending, setPending] = useState(false)
  const start = (change: ChangeRequest<T>): void => {
    setPending(true)
    void makeChange(change)
      .catch(() => undefined)
      .finally(() => setPending(false))
  }
  return { makeChange: start, isPending }
}
