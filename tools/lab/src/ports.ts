// Free ports for servers that must come back on the same one.
import { randomInt } from 'node:crypto'

import { isFreePort } from '@skerry/site'

// Below the range from which the kernel takes ports for outgoing connections: while a server is down, none of those may sit on its port.
const FIRST = 20_000
const LAST = 32_000
const ATTEMPTS = 100

/** The first of so many ports in a row on which nobody listens, at any address. */
export async function freePorts(count = 1): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = randomInt(FIRST, LAST - count)
    const wanted = Array.from({ length: count }, (_, i) => first + i)
    if ((await Promise.all(wanted.map(isFreePort))).every(Boolean)) return first
  }
  throw new Error(`no ${count} free ports in a row between ${FIRST} and ${LAST}`)
}
