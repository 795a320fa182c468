/** The measured values of a VM, in the order of every interface that has them. */
export const usageKeys = [
  'cpuPercent',
  'memoryMB',
  'diskRead',
  'diskWrite',
  'netIn',
  'netOut',
] as const
export type UsageKey = (typeof usageKeys)[number]

/**
 * What a VM used, the oldest value first: percent of all its CPUs, MiB of memory, bytes a second of disk and network. null: not
 * known. All lists are empty while the VM is not running.
 */
export interface UsageSeries extends Readonly<Record<UsageKey, readonly (number | null)[]>> {
  /** Seconds between two values. */
  readonly step: number
  /** The time of the last value. */
  readonly until: string
}

/** The part of the last hour that a caller wants. */
export interface UsageWindow {
  /** Seconds between two values. */
  readonly step: number
  readonly points: number
}

/** A host measures its VMs this often, in seconds. */
export const USAGE_STEP = 15
/** A host keeps its measurements for this long, in seconds. */
export const USAGE_SPAN = 3600

const WHOLE = /^[1-9][0-9]{0,3}$/

/** The window that these query parameters name, or what is wrong with them. Default: all measurements of the last hour. */
export function usageWindowOf(
  step = String(USAGE_STEP),
  points = String(Math.floor(USAGE_SPAN / Number(step))),
): UsageWindow | string {
  const window = { step: Number(step), points: Number(points) }
  if (!WHOLE.test(step) || window.step % USAGE_STEP !== 0 || window.step > USAGE_SPAN) {
    return `step must be a multiple of ${USAGE_STEP} seconds, at most ${USAGE_SPAN}`
  }
  if (!WHOLE.test(points)) return 'points must be a whole number from 1'
  if (window.step * window.points <= USAGE_SPAN) return window
  return `step times points must be at most ${USAGE_SPAN} seconds: measurements are kept for an hour`
}

/** The series of a VM that is not running. */
export const noUsage = ({ step }: UsageWindow, now: Date): UsageSeries => ({
  step,
  until: now.toISOString(),
  cpuPercent: [],
  memoryMB: [],
  diskRead: [],
  diskWrite: [],
  netIn: [],
  netOut: [],
})
