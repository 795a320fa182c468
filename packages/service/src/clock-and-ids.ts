/** An injected clock: a test moves it, a replay repeats it. */
export interface Clock {
  now(): Date
}

/** Injected randomness. */
export interface Ids {
  uuid(): string
  /** 256 bits, base64url: tokens, tickets. */
  secret(): string
}
