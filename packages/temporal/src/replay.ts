// Whether new code still fits a history that older code wrote.
import type { DataConverter } from '@temporalio/common'
import { Worker } from '@temporalio/worker'

import { bundleWorkflows } from './run-worker.ts'

export interface Replay {
  /** The file that exports the workflows. */
  readonly path: string
  readonly dataConverter?: DataConverter
  /** As Temporal gives it, or as JSON of that. */
  readonly history: unknown
  readonly workflowId: string
}

/** Goes through a history again, without a server. Throws where the code would now do something else. */
export async function replayHistory({ path, dataConverter, history, workflowId }: Replay) {
  const code = await bundleWorkflows(path, dataConverter)
  await Worker.runReplayHistory(
    { workflowBundle: { code }, ...(dataConverter && { dataConverter }) },
    history,
    workflowId,
  )
}
