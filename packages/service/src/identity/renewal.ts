import { X509Certificate } from 'node:crypto'

import type { Clock } from '../clock-and-ids.ts'

export interface Renewal {
  readonly clock: Clock
  /** A certificate of this age is renewed, even if it is still valid for long. */
  readonly afterMs: number
  /** The current certificate, PEM. */
  current(): string
  /** Whether there is another reason to renew it now. */
  also?(): Promise<boolean>
  renew(): Promise<void>
  /** Waits; returns early when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

const DAY_MS = 24 * 60 * 60 * 1000
/** Validity and renewal age of certificates. Renewal starts early, so that repeated failures do no harm. */
export const lifetimes = {
  host: { holdMs: 365 * DAY_MS, renewMs: 30 * DAY_MS },
  control: { holdMs: 7 * DAY_MS, renewMs: DAY_MS },
  /** Of a host for OVN's database, which knows no revocation: a revoked host can read it until its certificate ends. */
  overlay: { holdMs: DAY_MS, renewMs: DAY_MS / 3 },
  public: { holdMs: 365 * DAY_MS, renewMs: 30 * DAY_MS },
  issuer: { holdMs: 20 * 365 * DAY_MS },
} as const

/** Lets a machine whose clock is slightly behind accept a new certificate. */
const EARLIER_MS = 5 * 60 * 1000
/** Interval of the checks: short enough to notice a clock jump or the return of a cell. */
const LOOK_MS = 10 * 60 * 1000

export const spanFrom = (now: Date, holdMs: number) => ({
  notBefore: new Date(now.getTime() - EARLIER_MS),
  notAfter: new Date(now.getTime() + holdMs),
})

export function isDue(cert: string, now: Date, afterMs: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(cert)
  return (
    now.getTime() - validFromDate.getTime() - EARLIER_MS >= afterMs ||
    now.getTime() >= validToDate.getTime() ||
    // Issued while the clock of its issuer was wrong.
    now.getTime() < validFromDate.getTime()
  )
}

/** Renews a certificate until the signal is aborted. Failures are logged and retried. */
export async function keepRenewed(renewal: Renewal, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const due = isDue(renewal.current(), renewal.clock.now(), renewal.afterMs)
      if (due || (await renewal.also?.()) === true) {
        await renewal.renew()
        renewal.log('the certificate of this machine was renewed')
      }
    } catch (error) {
      renewal.log('the certificate of this machine could not be renewed; will retry', error)
    }
    await renewal.pause(LOOK_MS, signal)
  }
}
