// The report of a run of test files: the counts of the runner's own summary, and the duration of each file.

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export interface TestReport extends Counts {
  /** Keyed by the path of the file. */
  readonly seconds: Readonly<Record<string, number>>
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
