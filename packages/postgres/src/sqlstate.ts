// The one place where PostgreSQL's words become ours.
import { Fault } from '@skerry/fault'
import { DatabaseError } from 'pg'

/** What passes by itself; the same request may be made again. Codes: appendix A of PostgreSQL's manual. */
const passingStates: Readonly<Record<string, string>> = {
  '25006': 'the database is read-only: it is not the primary',
  '25P03': 'the database ended a transaction that was idle for too long',
  '40001': 'the database could not bring this in line with what others did at the same time',
  '40P01': 'the database ended a circle of transactions that waited for each other',
  '53300': 'the database has no connection left',
  '55P03': 'the database did not get a lock in time',
  '57014': 'the database did not get done in time',
  '57P01': 'the database is shutting down',
  '57P02': 'the database crashed',
  '57P03': 'the database is starting',
  '57P05': 'the database closed an idle connection',
}

/** Errors of the way to the database: the operating system's codes. */
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

/** The driver has no codes for these, and a standby shares its code for "not here" with many others. */
const lostLink =
  /^(Connection terminated|Client (has encountered|was closed)|timeout (exceeded|expired)|Postgres connection has been discarded|recovery is in progress)/

const HINT = 'ask again in a few seconds; when it lasts, look at the database'

/**
 * What passes by itself becomes a Fault `unavailable`; everything else comes back as it was: a broken rule is for the one who knows
 * what the rule means (`brokenConstraint`), anything more is a bug of ours.
 */
export function toFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Fault) return error
  const code = codeOf(error)
  const said = passingStates[code]
  if (said !== undefined) return new Fault('unavailable', said, { cause: error, hint: HINT })
  if (hasOldPlan(error)) {
    return new Fault('unavailable', 'the tables of the database have changed', {
      cause: error,
      hint: HINT,
    })
  }
  // Class 08: connection exceptions. Class 53: no memory, no disk.
  if (/^(08|53)/.test(code) || networkCodes.has(code) || lostLink.test(error.message)) {
    return new Fault('unavailable', 'the database cannot be reached', { cause: error, hint: HINT })
  }
  return error
}

/**
 * A statement that this connection has planned before gives other columns now: a newer version has migrated the tables. By the
 * place in the server, because the words are in its language and the code stands for much else.
 */
export function hasOldPlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === 'RevalidateCachedQuery'
}

/** The name of the unique key, foreign key or check that a statement would have broken. */
export function brokenConstraint(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError) || !error.code?.startsWith('23')) return undefined
  return error.constraint ?? ''
}

/** Whether the database gave up on a statement because it took longer than its time-out. */
export function tookTooLong(error: unknown): boolean {
  return stateOf(error) === '57014'
}

/** Whether a value does not fit where it was to go: class 22, data exceptions. */
export function isMisfit(error: unknown): boolean {
  return stateOf(error).startsWith('22')
}

function stateOf(error: unknown): string {
  const cause = error instanceof Fault ? error.cause : error
  return cause instanceof DatabaseError ? (cause.code ?? '') : ''
}

/** The five characters of a SQLSTATE, or the operating system's word. Several attempts to connect come as one error with parts. */
function codeOf(error: Error & { code?: unknown }): string {
  if (typeof error.code === 'string') return error.code
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  return first instanceof Error ? codeOf(first) : ''
}
