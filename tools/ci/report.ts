// The report of a run of test files: the counts of the runner's own summary, and the duration of each file.

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export interface TestReport extends Counts {
  /** Keyed by the path of the file. */
  readonly seconds: Readonly<Record<string, number>>
  readonly failures: readonly Failure[]
}

/** A test that failed, and why. */
export interface Failure {
  readonly test: string
  readonly why: string
}

/** Characters of each message; some contain the log of a server. */
const MESSAGE_MAX = 1_000

/** The messages of an error and its causes. The runner's own error around a failed assertion adds nothing. */
export function writeReason(error: unknown): string {
  const messages: string[] = []
  for (let each = error; each !== undefined && each !== null; each = causeOf(each)) {
    const code = each instanceof Object && 'code' in each ? each.code : undefined
    if (code !== 'ERR_TEST_FAILURE' || causeOf(each) === undefined)
      messages.push(shorten(textOf(each)))
  }
  return messages.join('\ncaused by: ')
}

const causeOf = (error: unknown): unknown =>
  error instanceof Object && 'cause' in error ? error.cause : undefined

const textOf = (error: unknown): string =>
  error instanceof Object && 'message' in error ? String(error.message) : String(error)

function shorten(text: string): string {
  if (text.length <= MESSAGE_MAX) return text
  return `${text.slice(0, MESSAGE_MAX / 2)} … ${text.slice(-MESSAGE_MAX / 2)}`
}

export const noTests: Counts = { passed: 0, failed: 0, skipped: 0 }

export function addCounts(all: readonly Counts[]): Counts {
  return all.reduce(
    (sum, each) => ({
      passed: sum.passed + each.passed,
      failed: sum.failed + each.failed,
      skipped: sum.skipped + each.skipped,
    }),
    noTests,
  )
}

export const writeCounts = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`
