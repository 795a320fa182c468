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
