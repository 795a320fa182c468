import type { Cells } from '../cloud/cells.ts'
import { cloudOf } from '../cloud/grants.ts'
import type { FunctionCall, Json } from '../durable/verbs.ts'
import { callFunction } from './call-function.ts'
import type { FunctionWorld } from './function.ts'

/** What a run's activity calls our functions by. The signal is the activity's own. */
export const functionCaller =
  (cells: Cells, { now, pause }: Pick<FunctionWorld, 'now' | 'pause'>) =>
  (call: FunctionCall, signal: AbortSignal): Promise<Json> =>
    callFunction(
      {
        ...{ now, pause, signal, cloud: (grant) => cloudOf(cells, grant) },
        isCanceled: () => wasCanceled(signal),
      },
      call,
    )

/** In Temporal's word. A worker that stops says another, and what it has begun is gone on with elsewhere. */
export const wasCanceled = ({ reason }: AbortSignal): boolean =>
  reason instanceof Error && reason.message === 'CANCELLED'
