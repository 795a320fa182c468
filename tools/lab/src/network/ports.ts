// Free ports for servers that must come back on the same one.
import { randomInt } from 'node:crypto'

import { isFreePort } from '@skerry/site'

// Below the kernel's range for outgoing connections: while a server is down, none of those may use its port.
const ALL = '20000-31999'
const ATTEMPTS = 100

/**
 * The first of a range of consecutive free ports, at any address. SKERRY_LAB_PORTS=FIRST-LAST narrows the choice: concurrent programs
 * with separate ranges never take a port that another has chosen and does not listen on now.
 */
export async function freePorts(count = 1): Promise<number> {
  const range = process.env['SKERRY_LAB_PORTS'] || ALL
  const [low = NaN, high = NaN] = range.split('-').map(Number)
  if (!(low > 0 && high - low >= count))
    throw new Error(`SKERRY_LAB_PORTS must be two ports, such as ${ALL}, not ${range}`)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = randomInt(low, high - count + 2)
    const wanted = Array.from({ length: count }, (_, i) => first + i)
    if ((await Promise.all(wanted.map(isFreePort))).every(Boolean)) return first
  }
  throw new Error(`no ${count} free ports in a row between ${low} and ${high}`)
}
