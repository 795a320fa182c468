// What pages read: their data, and the one rule of when an error takes its place.
import { useQuery, type UseQueryOptions } from '@tanstack/react-query'

import { ApiError } from '../api/client.ts'

const AGAIN_MS = 5000

const hasStatus = (error: Error | null, ...statuses: readonly number[]): boolean =>
  error instanceof ApiError && statuses.includes(error.status)

/**
 * Why data cannot be shown. Data that was read once stays, with what the user writes beside it, unless it is gone or the user may no longer
 * see it. The top bar reports a cloud that does not answer, and a dialog asks for the password after a 401.
 */
export const failureOf = (data: unknown, error: Error | null): Error | null =>
  data === undefined || hasStatus(error, 403, 404) ? error : null

interface ReadState {
  readonly data: unknown
  readonly error: Error | null
}

/** Data that stays although the last read failed is read again: no event says when it can be. A new session reads everything. */
export const againIfOld = ({ state: { data, error } }: { readonly state: ReadState }) =>
  error !== null && failureOf(data, error) === null && !hasStatus(error, 401) ? AGAIN_MS : false

/** An error means that there is no data to show: `if (error) return <ErrorState …/>`. */
export function useRead<T>(options: UseQueryOptions<T>) {
  const { refetchInterval: own = false } = options
  const read = useQuery({
    ...options,
    refetchInterval: (query) => (typeof own === 'function' ? own(query) : own) || againIfOld(query),
  })
  return {
    data: read.data,
    error: failureOf(read.data, read.error),
    refetch: read.refetch,
    isLoading: read.isLoading,
    /** Only who asks is drawn again with each read. */
    get isFetching() {
      return read.isFetching
    },
  }
}
