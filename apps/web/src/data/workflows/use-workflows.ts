// Documents of the workflow server, and the live state of a run.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'

import { followRun } from '../../api/run-stream.ts'
import {
  workflowRequest,
  type DrawingDocument,
  type RunDocument,
  type RunLogDocument,
} from '../../api/workflows.ts'
import { hasRunEnded } from '../../model/workflow-run.ts'
import { queryClient } from '../query-client.ts'

export const useWorkflowDocument = <T>(path: string | undefined) =>
  useQuery({
    queryKey: ['workflow', path],
    queryFn: ({ signal }) => workflowRequest<T>(path ?? '', { signal }),
    enabled: path !== undefined,
    placeholderData: keepPreviousData,
  })

const LOG_SHOWN = 1000

/** A run with its drawing and its log, kept up to date while it goes on. */
export function useRun(workflow: string, id: string) {
  const path = `/workflows/${workflow}/executions/${id}`
  const run = useWorkflowDocument<RunDocument>(path)
  const drawing = useWorkflowDocument<DrawingDocument>(`${path}/schema`)
  const log = useWorkflowDocument<RunLogDocument>(`${path}/logs?maxResult=${LOG_SHOWN}`)
  const isOpen = run.data !== undefined && !hasRunEnded(run.data.state)
  useEffect(() => {
    if (!isOpen) return undefined
    const key = ['workflow', path]
    const goesOn = (): boolean => {
      const now = queryClient.getQueryData<RunDocument>(key)
      return now !== undefined && !hasRunEnded(now.state)
    }
    return followRun(`${path}/events`, {
      goesOn,
      onEvent({ event, data }) {
        if (event === 'execution') queryClient.setQueryData(key, data)
        const isStep = event === 'execution' || event === 'log'
        const old = isStep ? ['schema', 'logs'] : ['interaction']
        void queryClient.invalidateQueries({
          predicate: ({ queryKey: [kind, at] }) =>
            kind === 'workflow' && old.some((part) => String(at).startsWith(`${path}/${part}`)),
        })
      },
    })
  }, [path, isOpen])
  return { path, run, drawing, log }
}
