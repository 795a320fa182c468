// The one place where PostgreSQL errors become Faults.
import { Fault } from '@skerry/fault'
import { DatabaseError } from 'pg'

/** Retryable errors: the same request may be sent again. Codes: appendix A of PostgreSQL's manual. */
const passingStates: Readonly<Record<string, string>> = {
  '25006': 'the database is read-only: it is not the primary',
  '25P03': 'the database ended a transaction that was idle for too long',
  '40001': 'the database could not serialise this with concurrent transactions',
  '40P01': 'the database detected a deadlock',
  '53300': 'the database has no connection left',
  '55P03': 'the database timed out waiting for a lock',
  '57014': 'the database statement timed out',
  '57P01': 'the database is shutting down',
  '57P02': 'the database crashed',
  '57P03': 'the database is starting',
  '57P05': 'the database closed an idle connection',
}

/** Error codes of the operating system for the connection to the database. */
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** The driver has no codes for these, and a standby uses the same code for many errors. */
const lostLink =
  /^(Connection terminated|Client (has encountered|was closed)|timeout (exceeded|expired)|Postgres connection has been discarded|recovery is in progress)/

const HINT = 'try again in a few seconds; if it persists, check the database'

/**
 * Retryable errors become a Fault `unavailable`; all others are returned unchanged: a violated constraint is for the caller, who knows
 * its meaning (`brokenConstraint`), and anything else is a bug.
 */
export function toFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Fault) return error
  const code = codeOf(error)
  const message = passingStates[code]
  if (message !== undefined) return new Fault('unavailable', message, { cause: error, hint: HINT })
  if (hasOldPlan(error)) {
    return new Fault('unavailable', 'the database schema has changed', {
      cause: error,
      hint: HINT,
    })
  }
  // Class 08: connection exceptions. Class 53: out of memory or disk.
  if (/^(08|53)/.test(code) || networkCodes.has(code) || lostLink.test(error.message)) {
    return new Fault('unavailable', 'cannot reach the database', { cause: error, hint: HINT })
  }
  return error
}

/**
 * A statement that this connection has planned returns other columns now: a newer release has migrated the tables. Detected by the
 * routine in the server, because the message is localised and the code is used for other errors too.
 */
export function hasOldPlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === 'RevalidateCachedQuery'
}

/** The name of the unique key, foreign key or check that a statement violated. */
export function brokenConstraint(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError) || !error.code?.startsWith('23')) return undefined
  return error.constraint ?? ''
}

/** Whether the database canceled a statement because of its timeout. */
export function tookTooLong(error: unknown): boolean {
  return stateOf(error) === '57014'
}

/** Whether a value does not fit its column: class 22, data exceptions. */
export function isMisfit(error: unknown): boolean {
  return stateOf(error).startsWith('22')
}

function stateOf(error: unknown): string {
  const cause = error instanceof Fault ? error.cause : error
  return cause instanceof DatabaseError ? (cause.code ?? '') : ''
}

/** The SQLSTATE, or the error code of the operating system. Several connection attempts give one AggregateError. */
function codeOf(error: Error & { code?: unknown }): string {
  if (typeof error.code === 'string') return error.code
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  return first instanceof Error ? codeOf(first) : ''
}
