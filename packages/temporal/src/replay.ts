// Checks that new code is compatible with a history that older code wrote.
import type { DataConverter } from '@temporalio/common'
import { Worker } from '@temporalio/worker'

import { bundleWorkflows } from './bundle.ts'

export interface Replay {
  /** The file that exports the workflows. */
  readonly path: string
  readonly dataConverter?: DataConverter
  /** As returned by Temporal, or its JSON form. */
  readonly history: unknown
  readonly workflowId: string
}

/** Replays a history without a server. Throws if the code is not deterministic with respect to it. */
export async function replayHistory({ path, dataConverter, history, workflowId }: Replay) {
  const code = await bundleWorkflows(path, dataConverter)
  await Worker.runReplayHistory(
    { workflowBundle: { code }, ...(dataConverter && { dataConverter }) },
    history,
    workflowId,
  )
}
