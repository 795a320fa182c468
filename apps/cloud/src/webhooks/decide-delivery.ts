// Decides what happens after a message was sent. Pure: settle.ts applies the decision.
import type { WhyDisabled } from '../database/webhook-tables.ts'

/** What happened to one message. */
export type Outcome =
  | { readonly is: 'answered'; readonly status: number }
  /** The receiver gave no answer, or must not be called; `why` is for the administrator of the organisation. */
  | { readonly is: 'unanswered'; readonly why: string }
  /** The egress is away: nothing was sent, and the receiver is not to blame. */
  | { readonly is: 'unsent' }

export type AfterDelivery =
  | { readonly next: 'go on' }
  /** Another attempt, and whether this one counts as a failure of the receiver. */
  | { readonly next: 'try again'; readonly waitMs: number; readonly counts: boolean }
  | { readonly next: 'disable'; readonly why: Exclude<WhyDisabled, 'asked'> }

export interface Failures {
  /** Attempts since a message was taken, without this one. */
  readonly attempts: number
  /** Since the first of them, by the clock of the database. */
  readonly failingMs: number
}

const FIRST_MS = 1000
const MOST_MS = 15 * 60_000
/** ± 10 %, so that webhooks that failed together do not come back together. */
const SPREAD = 0.1
const GIVEN_UP_MS = 3 * 24 * 3_600_000
/** In three days there are some 290 attempts. With fewer the clock jumped, or the cells were away. */
const GIVEN_UP_ATTEMPTS = 200
const EGRESS_MS = 5000
const GONE = 410

/** No wait is longer. */
export const LONGEST_WAIT_MS = Math.round(MOST_MS * (1 + SPREAD))

/** `random`: from 0 to 1. */
export function decideDelivery(
  outcome: Outcome,
  { attempts, failingMs }: Failures,
  random: number,
): AfterDelivery {
  if (outcome.is === 'unsent') return { next: 'try again', waitMs: EGRESS_MS, counts: false }
  if (isTaken(outcome)) return { next: 'go on' }
  if (outcome.is === 'answered' && outcome.status === GONE) return { next: 'disable', why: 'gone' }
  if (failingMs > GIVEN_UP_MS && attempts >= GIVEN_UP_ATTEMPTS) {
    return { next: 'disable', why: 'failing' }
  }
  const wait = Math.min(MOST_MS, FIRST_MS * 2 ** attempts)
  const waitMs = Math.round(wait * (1 + SPREAD * (2 * random - 1)))
  return { next: 'try again', waitMs, counts: true }
}

export const isTaken = (outcome: Outcome): boolean =>
  outcome.is === 'answered' && outcome.status >= 200 && outcome.status < 300

/** What administrators of the organisation read. */
export function describe(outcome: Outcome): string {
  if (outcome.is === 'unsent') return 'the egress of the cloud is not reachable'
  if (outcome.is === 'unanswered') return outcome.why
  const { status } = outcome
  if (status >= 300 && status < 400) return `answered ${status}; redirections are not followed`
  return `answered ${status}`
}
