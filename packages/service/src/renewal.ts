import { X509Certificate } from 'node:crypto'

import type { Clock } from './world.ts'

export interface Renewal {
  readonly clock: Clock
  /** Begun so long ago, a certificate is renewed, however long it would still hold. */
  readonly afterMs: number
  /** The certificate that is in use, PEM. */
  current(): string
  /** Another reason to renew it now. */
  also?(): Promise<boolean>
  renew(): Promise<void>
  /** Waits, or ends early when the signal says so. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

const DAY_MS = 24 * 60 * 60 * 1000
/** How long certificates hold, and when they are renewed: long before, so that many failures cost nothing. */
export const lifetimes = {
  host: { holdMs: 365 * DAY_MS, renewMs: 30 * DAY_MS },
  control: { holdMs: 7 * DAY_MS, renewMs: DAY_MS },
  public: { holdMs: 365 * DAY_MS, renewMs: 30 * DAY_MS },
  issuer: { holdMs: 20 * 365 * DAY_MS },
} as const

/** A machine whose clock is a little behind takes a new certificate too. */
const EARLIER_MS = 5 * 60 * 1000
/** A clock that jumped is noticed soon, and so is a cell that is there again. */
const LOOK_MS = 10 * 60 * 1000

export const spanFrom = (now: Date, holdMs: number) => ({
  notBefore: new Date(now.getTime() - EARLIER_MS),
  notAfter: new Date(now.getTime() + holdMs),
})

export function isDue(cert: string, now: Date, afterMs: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(cert)
  return (
    now.getTime() - validFromDate.getTime() - EARLIER_MS >= afterMs ||
    now.getTime() >= validToDate.getTime()
  )
}

/** Keeps a certificate fresh until the signal says otherwise. What fails is tried again, and is no reason to stop. */
export async function keepRenewed(renewal: Renewal, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const due = isDue(renewal.current(), renewal.clock.now(), renewal.afterMs)
      if (due || (await renewal.also?.()) === true) {
        await renewal.renew()
        renewal.log('the certificate of this machine was renewed')
      }
    } catch (error) {
      renewal.log('the certificate of this machine could not be renewed; it is tried again', error)
    }
    await renewal.pause(LOOK_MS, signal)
  }
}
