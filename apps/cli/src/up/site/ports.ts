import { isFreePort, temporalPorts } from '@skerry/site'

import { Failure } from '../../terminal/failure.ts'
import { wantedPorts, type Ports } from './site-plan.ts'

const FAR = 200

/** The preferred ports, or the next free ones above them. */
export async function freePorts(): Promise<Ports> {
  const taken = new Set<number>()
  const found: [string, number][] = []
  for (const [name, wanted] of Object.entries(wantedPorts)) {
    const count = name === 'temporal' ? temporalPorts : 1
    const first = await firstFree(wanted, count, taken)
    for (let at = 0; at < count; at++) taken.add(first + at)
    found.push([name, first])
  }
  return Object.fromEntries(found) as Ports
}

async function firstFree(
  wanted: number,
  count: number,
  taken: ReadonlySet<number>,
): Promise<number> {
  for (let first = wanted; first < wanted + FAR; first++) {
    const row = Array.from({ length: count }, (_, at) => first + at)
    if (row.some((port) => taken.has(port))) continue
    if ((await Promise.all(row.map(isFreePort))).every(Boolean)) return first
  }
  throw new Failure('refused', `${count} free ports in a row are needed above ${wanted}`, {
    hint: 'ss -tlnp shows the processes that use them',
  })
}
