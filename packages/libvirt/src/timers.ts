/** Timers as an interface, so that a test can control the time. */
export interface Timers {
  set(run: () => void, ms: number): object
  clear(timer: object): void
}

export const systemTimers: Timers = {
  set: (run, ms) => setTimeout(run, ms),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
}
