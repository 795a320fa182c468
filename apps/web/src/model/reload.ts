// When a part of the page is missing, another version of it was deployed.

/** Two failures in this time have another cause. */
const ONCE_IN_MS = 60_000

/** Whether the page may reload itself; `last` is when it did so before, as it is remembered. */
export const mayReload = (last: string | null, now: number): boolean => {
  const time = Number(last ?? Number.NaN)
  return !Number.isFinite(time) || now - time > ONCE_IN_MS || now < time
}
