// Documents and lists of the workflow server.
import { workflowRequest } from '../../api/workflows.ts'
import { useRead } from '../use-read.ts'

const LIST_MS = 10_000

const resourceOf = (path: unknown): string | undefined => String(path).split('?')[0]

const useWorkflowRead = <T>(path: string | undefined, isRefreshed: boolean) =>
  useRead({
    queryKey: ['workflow', path],
    queryFn: ({ signal }) => workflowRequest<T>(path ?? '', { signal }),
    enabled: path !== undefined,
    // A list stays while it is read with another filter. Another workflow or run is never shown in place of this one: a form would send its
    // values here.
    placeholderData: (previous, query) =>
      query && resourceOf(query.queryKey[1]) === resourceOf(path) ? previous : undefined,
    refetchInterval: isRefreshed && LIST_MS,
    refetchOnWindowFocus: isRefreshed && 'always',
  })

export const useWorkflowDocument = <T>(path: string | undefined) => useWorkflowRead<T>(path, false)

/** A list that others change, which no event of the cloud reports. A tab that is not visible does not ask. */
export const useWorkflowList = <T>(path: string) => useWorkflowRead<T>(path, true)
