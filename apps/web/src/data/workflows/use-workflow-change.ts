import { WORKFLOW_API } from '../../api/workflows.ts'
import { useChange, type ChangeRequest } from '../use-change.ts'

/** A change at the workflow server; `href` is a path of its API. */
export function useWorkflowChange<T = unknown>() {
  const { makeChange, isPending } = useChange<T>()
  const start = (change: ChangeRequest<T>): void =>
    makeChange({
      ...change,
      href: `${WORKFLOW_API}${change.href}`,
      headers: { accept: 'application/json' },
    })
  return { makeChange: start, isPending }
}
