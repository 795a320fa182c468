import { USAGE_STEP, type UsageKey } from '@skerry/vm'

/** The counters of a VM at one moment. What libvirt did not report is missing. */
export interface UsageSample {
  /** Monotonic milliseconds. */
  readonly atMs: number
  /** libvirt's id of the running domain. Every power-on has another one. */
  readonly run: number
  readonly cpus?: number | undefined
  readonly cpuNanoseconds?: number | undefined
  readonly memoryBytes?: number | undefined
  readonly readBytes?: number | undefined
  readonly writtenBytes?: number | undefined
  readonly receivedBytes?: number | undefined
  readonly sentBytes?: number | undefined
}

export type UsagePoint = Readonly<Record<UsageKey, number | null>>

const MIB = 1024 ** 2
const NANOSECONDS = 1e9
export const STEP_MS = USAGE_STEP * 1000
/** From here on at least one sample is missing between two. */
export const MISSED_MS = 2 * STEP_MS
/** No disk or network of a host is faster: a counter that says so is wrong. */
const BYTES_PER_SECOND_MAX = 1e12

/**
 * What the VM used between two samples. Rates are null if the two do not belong together: the VM was powered on between them, a
 * counter went back, or too much time has passed.
 */
export function usageBetween(before: UsageSample | undefined, now: UsageSample): UsagePoint {
  const elapsedMs = before && before.run === now.run ? now.atMs - before.atMs : 0
  const isMeasured = elapsedMs > 0 && elapsedMs < MISSED_MS
  const rate = (key: keyof UsageSample): number | null => {
    const [from, to] = [before?.[key], now[key]]
    if (!isMeasured || from === undefined || to === undefined || to < from) return null
    return (to - from) / (elapsedMs / 1000)
  }
  const bytes = (key: keyof UsageSample): number | null => {
    const each = rate(key)
    return each !== null && each <= BYTES_PER_SECOND_MAX ? each : null
  }
  return {
    cpuPercent: percentOf(rate('cpuNanoseconds'), now.cpus),
    memoryMB: now.memoryBytes === undefined ? null : now.memoryBytes / MIB,
    diskRead: bytes('readBytes'),
    diskWrite: bytes('writtenBytes'),
    netIn: bytes('receivedBytes'),
    netOut: bytes('sentBytes'),
  }
}

/** QEMU's own threads count too, so that a busy VM would have a little more than all of its CPUs. */
const percentOf = (nanoseconds: number | null, cpus: number | undefined): number | null =>
  nanoseconds === null || cpus === undefined || cpus < 1
    ? null
    : Math.min(100, (100 * nanoseconds) / NANOSECONDS / cpus)
