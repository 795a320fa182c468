import { Fault, httpStatus, type FaultKind } from '@skerry/fault'
import { powerStates } from '@skerry/vm'

import { powerWord } from './words.ts'

/** Existing clients know a closed list of statuses; ours beyond it become the nearest in it. */
const localStatus: Readonly<Record<FaultKind, number>> = {
  ...httpStatus,
  gone: 404,
  'too-many': 503,
}

export interface FaultAnswer {
  readonly status: number
  readonly body: {
    readonly code: number
    readonly message: string
    readonly hint?: string
    readonly state?: string
  }
}

/** The way out for everything that was not done; what is not a Fault is our mistake and says nothing. */
export function faultAnswer(error: unknown, requestId: string): FaultAnswer {
  if (!(error instanceof Fault)) {
    const message = `request ${requestId} failed by a mistake of ours; the log says more`
    return { status: 500, body: { code: 500, message } }
  }
  const status = localStatus[error.kind]
  const { message, hint } = error
  const power = powerStates.find((each) => each === error.state)
  return {
    status,
    body: {
      ...{ code: status, message },
      ...(hint !== undefined && { hint }),
      ...(power !== undefined && { state: powerWord[power] }),
    },
  }
}
