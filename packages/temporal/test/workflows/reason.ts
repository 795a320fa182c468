import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'

/** What a workflow reads from a failed step. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (!(cause instanceof ApplicationFailure)) throw error
  return `${cause.type}: ${cause.message}`
}
