import { QueryClient } from '@tanstack/react-query'

/** Events say when data is old; polling is only for what events do not contain. The API client does the retries. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 120_000,
      retry: false,
      networkMode: 'always',
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
  },
})

/**
 * Reads what is visible of this key again, because of an event; without a key, all that is visible. A read that is running is not
 * aborted: events can come faster than answers. Its answer may be older than the event, so it is followed by one more read.
 */
export async function readAgain(...key: readonly string[]): Promise<void> {
  const running = queryClient.getQueryCache().findAll({ queryKey: key, fetchStatus: 'fetching' })
  await queryClient.invalidateQueries({ queryKey: key }, { cancelRefetch: false })
  if (running.length === 0) return
  await queryClient.invalidateQueries(
    { queryKey: key, predicate: (query) => running.includes(query) },
    { cancelRefetch: false },
  )
}
