import { Fault, httpStatus, type FaultKind } from '@skerry/fault'
import { powerStates } from '@skerry/vm'

import { powerWord } from './words.ts'

/** Existing clients know a fixed list of statuses; others are mapped to the nearest in it. */
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

/** The response to every failed request; an error that is not a Fault is a bug and reveals nothing. */
export function faultAnswer(error: unknown, requestId: string): FaultAnswer {
  if (!(error instanceof Fault)) {
    const message = `request ${requestId} failed with an internal error; see the log of vmd`
    return { status: 500, body: { code: 500, message } }
  }
  const status = localStatus[error.kind]
  const { message, hint } = error
  const power = powerStates.find((each) => each === error.state)
  return {
    status,
    body: {
      code: status,
      message,
      ...(hint !== undefined && { hint }),
      ...(power !== undefined && { state: powerWord[power] }),
    },
  }
}
