// What an organisation used, as lines of charts and rows of a table.
import type { UsageAmounts, UsagePeriodDocument } from '../../api/documents.ts'

const HOUR_MS = 3_600_000
const GIB = 1024

export interface UsageMeter {
  readonly key: keyof UsageAmounts
  readonly isMemory?: true
}

/** The meters of the table, in its order. */
export const usageMeters: readonly UsageMeter[] = [
  { key: 'vmMilliseconds' },
  { key: 'runningVmMilliseconds' },
  { key: 'cpuMilliseconds' },
  { key: 'runningCpuMilliseconds' },
  { key: 'memoryMBMilliseconds', isMemory: true },
  { key: 'runningMemoryMBMilliseconds', isMemory: true },
  { key: 'storageMBMilliseconds', isMemory: true },
  { key: 'templateMBMilliseconds', isMemory: true },
  { key: 'externalAddressMilliseconds' },
]

/** Hours, or GiB times hours. */
export const hoursIn = (period: UsageAmounts, { key, isMemory }: UsageMeter): number =>
  period[key] / (isMemory ? HOUR_MS * GIB : HOUR_MS)

/** The hours that are over: what there was on average in each. The last one may not be over. */
export const wholeHours = (
  periods: readonly UsagePeriodDocument[],
): readonly UsagePeriodDocument[] =>
  periods.at(-1)?.complete === false ? periods.slice(0, -1) : periods

export const meansOf = (
  hours: readonly UsagePeriodDocument[],
  key: keyof UsageAmounts,
): readonly number[] => hours.map((hour) => hour[key] / HOUR_MS)

/** The first hour of the last seven days, and the first of this month, in UTC. */
export const usageStarts = (now: number): { readonly week: string; readonly month: string } => {
  const today = new Date(now)
  const week = new Date((Math.floor(now / HOUR_MS) - 7 * 24) * HOUR_MS)
  const month = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth()))
  return {
    week: `${week.toISOString().slice(0, 13)}:00:00Z`,
    month: month.toISOString().slice(0, 10),
  }
}
