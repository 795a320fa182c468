const BARS = '▁▂▃▄▅▆▇█'

/** A bar for each value, the highest for `top` (default: the highest value); a blank for a gap. */
export function drawSparkline(values: readonly (number | null)[], top?: number): string {
  const highest = top ?? Math.max(1, ...values.map((each) => each ?? 0))
  const bar = (value: number): string =>
    BARS[Math.min(BARS.length - 1, Math.floor((value / highest) * BARS.length))] ?? ''
  return values.map((each) => (each === null ? ' ' : bar(each))).join('')
}
