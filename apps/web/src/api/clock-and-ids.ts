// Time and randomness. main.tsx hands them in; a test hands in its own.

export interface ClockAndIds {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly uuid: () => string
}

let source: ClockAndIds | undefined

export const provideClockAndIds = (next: ClockAndIds): void => {
  source = next
}

function provided(): ClockAndIds {
  if (!source) throw new Error('provideClockAndIds was not called')
  return source
}

export const now = (): number => provided().now()
export const uuid = (): string => provided().uuid()
