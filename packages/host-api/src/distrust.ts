import { Fault } from '@skerry/fault'

const DISTRUST = 'distrust'

/**
 * One machine rejects the certificate of the other. The kind is `unavailable`: another cell, or this one with a renewed
 * certificate or a corrected clock, may be accepted. The detail distinguishes it from a machine that is off.
 */
export const distrust = (message: string, cause?: unknown): Fault =>
  new Fault('unavailable', message, {
    detail: DISTRUST,
    hint: 'compare the clocks of both machines and the validity of both certificates',
    cause,
  })

export const isDistrust = (error: unknown): error is Fault =>
  error instanceof Fault && error.detail === DISTRUST

/** The response of a machine that rejects its peer's certificate. */
export const refusedPeer = (message: string): Fault =>
  new Fault('forbidden', message, { detail: DISTRUST })
