/** Random numbers that are the same in every run, so that a failure can be reproduced. */
export interface Random {
  /** From 0 up to, but not including, `limit`. */
  below(limit: number): number
  bytes(length: number): Buffer
}

export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return {
    below: (limit) => next() % limit,
    bytes: (length) => Buffer.from(Array.from({ length }, () => next() & 0xff)),
  }
}
