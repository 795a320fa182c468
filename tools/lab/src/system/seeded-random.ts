/** Random numbers that are the same in every run with the same seed, so that a failure can be reproduced. */
export interface SeededRandom {
  /** A whole number from 0 up to, but not including, `end`. */
  readonly below: (end: number) => number
  /** From 0 up to, but not including, 1. */
  readonly fraction: () => number
  readonly pick: <T>(from: readonly [T, ...T[]]) => T
  readonly bytes: (length: number) => Buffer
}

/** Mulberry32: 32 bits of state are enough for test data. This file imports nothing, so that small tests start quickly. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return {
    below: (end) => next() % end,
    fraction: () => next() / 2 ** 32,
    pick: (from) => from[next() % from.length] ?? from[0],
    bytes: (length) => Buffer.from(Array.from({ length }, () => next() & 0xff)),
  }
}
