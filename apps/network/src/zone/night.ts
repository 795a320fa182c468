const HOUR = 3

/** The next time at which few people change anything, by the clock of this machine. */
export function nightAfter(now: Date): Date {
  const night = new Date(now)
  night.setHours(HOUR, 0, 0, 0)
  if (night <= now) night.setDate(night.getDate() + 1)
  return night
}
