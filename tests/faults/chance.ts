/** Random numbers that are the same in every run with the same seed, so that a failure can be reproduced. */
export interface Chance {
  /** From `least` up to, but not including, `most`. */
  between(least: number, most: number): number
  pick<T>(choices: readonly [T, ...T[]]): T
  /** A separate stream, so that its numbers do not depend on the speed of others. */
  branch(): Chance
}

export function chance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  const between = (least: number, most: number) => least + (next() / 2 ** 32) * (most - least)
  return {
    between,
    pick: (choices) => choices[Math.floor(between(0, choices.length))] ?? choices[0],
    branch: () => chance(next()),
  }
}
