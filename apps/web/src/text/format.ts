// Numbers, sizes and times in the language of the browser. No page formats anything itself.
const languages = navigator.languages
const integer = new Intl.NumberFormat(languages)
const decimal = new Intl.NumberFormat(languages, { maximumFractionDigits: 1 })
const relative = new Intl.RelativeTimeFormat(languages, { numeric: 'auto', style: 'short' })
const clock = new Intl.DateTimeFormat(languages, { timeStyle: 'medium' })
const full = new Intl.DateTimeFormat(languages, { dateStyle: 'medium', timeStyle: 'medium' })
const hour = new Intl.DateTimeFormat(languages, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

export const formatCount = (n: number): string => integer.format(n)
export const formatDecimal = (n: number): string => decimal.format(n)
export const formatPercent = (share: number): string => `${Math.round(share * 100)} %`

const UNITS = ['MiB', 'GiB', 'TiB', 'PiB'] as const

/** 4096 → 4 GiB. */
export function formatMiB(mib: number): string {
  let unit = 0
  let value = mib
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  return `${decimal.format(value)} ${UNITS[unit]}`
}

export const formatBytes = (bytes: number): string => formatMiB(bytes / 1024 ** 2)

const PREFIXES = ['', 'k', 'M', 'G', 'T'] as const

function formatRate(perSecond: number, unit: string): string {
  const power = Math.min(PREFIXES.length - 1, Math.floor(Math.log10(Math.max(1, perSecond)) / 3))
  return `${decimal.format(perSecond / 1000 ** power)} ${PREFIXES[power]}${unit}/s`
}
/** 1_600_000 → 1.6 MB/s. */
export const formatByteRate = (bytes: number): string => formatRate(bytes, 'B')
/** 1_600_000 → 1.6 Mbit/s. */
export const formatBitRate = (bits: number): string => formatRate(bits, 'bit')

const DAY = 86_400
const SPANS = [
  { below: 60, unit: 'second', seconds: 1 },
  { below: 3600, unit: 'minute', seconds: 60 },
  { below: DAY, unit: 'hour', seconds: 3600 },
  { below: 30 * DAY, unit: 'day', seconds: DAY },
  { below: 365 * DAY, unit: 'month', seconds: 30 * DAY },
  { below: Number.POSITIVE_INFINITY, unit: 'year', seconds: 365 * DAY },
] as const

/** '3 min ago', 'in 2 days'. */
export function formatRelative(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1000
  const span = SPANS.find(({ below }) => Math.abs(seconds) < below) ?? SPANS[5]
  return relative.format(-Math.round(seconds / span.seconds), span.unit)
}

export const formatClock = (time: string | number): string => clock.format(new Date(time))
/** An hour of the last days. */
export const formatHour = (time: number): string => hour.format(new Date(time))
export const formatDateTime = (time: string): string => full.format(new Date(time))

/** From the start until the end; while there is no end, until now. */
export function formatDuration(from: string, until: string | undefined, now: number): string {
  const end = until === undefined ? now : Date.parse(until)
  const seconds = Math.max(0, Math.round((end - Date.parse(from)) / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

const LEASE_UNITS = [
  { seconds: DAY, one: 'day', many: 'days' },
  { seconds: 3600, one: 'hour', many: 'hours' },
  { seconds: 60, one: 'minute', many: 'minutes' },
] as const

/** A lease of the API: seconds, and 0 for no limit. */
export function formatLease(seconds: number): string {
  if (seconds === 0) return 'no limit'
  const unit = LEASE_UNITS.find((each) => seconds % each.seconds === 0)
  if (!unit) return `${integer.format(seconds)} s`
  const n = seconds / unit.seconds
  return `${integer.format(n)} ${n === 1 ? unit.one : unit.many}`
}

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${integer.format(n)} ${n === 1 ? one : many}`
