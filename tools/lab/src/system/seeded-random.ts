/** Random numbers that are the same in every run with the same seed, so that a failure can be reproduced. */
export interface SeededRandom {
  /** A whole number from 0 up to, but not including, `end`. */
  readonly below: (end: number) => number
  /** From 0 up to, but not including, 1. */
  readonly fraction: () => number
  /** From `least` up to, but not including, `most`. */
  readonly between: (least: number, most: number) => number
  readonly pick: <T>(from: readonly [T, ...T[]]) => T
  readonly bytes: (length: number) => Buffer
  /** A separate stream, so that its numbers do not depend on the speed of others. */
  readonly branch: () => SeededRandom
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
  const fraction = () => next() / 2 ** 32
  return {
    below: (end) => next() % end,
    fraction,
    between: (least, most) => least + fraction() * (most - least),
    pick: (from) => from[next() % from.length] ?? from[0],
    bytes: (length) => Buffer.from(Array.from({ length }, () => next() & 0xff)),
    branch: () => seededRandom(next()),
  }
}
