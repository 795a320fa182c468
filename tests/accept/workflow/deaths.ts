// Which processes are killed while workflows run, and when: drawn from a seed, so that a failure can be reproduced.
import type { LabServer } from '@skerry/lab'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import type { Place } from './place.ts'

const REST_MS = { least: 300, most: 4000 }

export interface Death {
  readonly who: string
  /** The delay after the previous one has come back. */
  readonly restMs: number
  /** Killed, and started again. */
  readonly dies: () => Promise<void>
}

const of = (who: string, server: LabServer) => ({
  who,
  async dies() {
    await server.kill()
    await server.start()
  },
})

/** Each process that a run needs at least once, in random order, and the rest at random. */
export function drawDeaths(
  { cloud, first }: Place,
  { seed, count }: { readonly seed: number; readonly count: number },
): readonly Death[] {
  const luck = seededRandom(seed)
  const needed = [
    of('the workflow server', first),
    of('its worker', first.worker),
    { who: 'Temporal', dies: () => cloud.temporal.restart() },
    {
      who: 'PostgreSQL',
      async dies() {
        await cloud.postgres.kill9()
        await cloud.postgres.restart()
      },
    },
  ]
  const all = [...needed, ...cloud.cells.map((cell, at) => of(`cell ${at + 1}`, cell))]
  const any = () => all[Math.floor(luck.between(0, all.length))]
  return Array.from({ length: count }, (_, at) => needed[at] ?? any())
    .filter((each) => each !== undefined)
    .map((each) => ({ each, order: luck.between(0, 1) }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ each }) => ({ ...each, restMs: luck.between(REST_MS.least, REST_MS.most) }))
}
