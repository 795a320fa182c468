/** A run of known values, and where it begins. */
export interface ChartSegment {
  readonly start: number
  readonly values: readonly number[]
}

/** The known values between gaps: a line is drawn through each run, and none across a gap. */
export function segmentsOf(values: readonly (number | null)[]): readonly ChartSegment[] {
  const segments: { start: number; values: number[] }[] = []
  for (const [at, value] of values.entries()) {
    if (value === null) continue
    const last = segments.at(-1)
    if (last && last.start + last.values.length === at) last.values.push(value)
    else segments.push({ start: at, values: [value] })
  }
  return segments
}
