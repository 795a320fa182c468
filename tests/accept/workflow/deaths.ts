// Who is killed while workflows run, and when: drawn from a seed, so that a failure can be looked at again.
import { setTimeout as sleep } from 'node:timers/promises'

import type { LabServer } from '@skerry/lab'

import { chance } from '../../faults/chance.ts'
import type { Place } from './place.ts'

const RESTS_MS = [300, 5000] as const

interface Death {
  readonly who: string
  readonly dies: () => Promise<void>
}

const of = (who: string, server: LabServer): Death => ({
  who,
  async dies() {
    await server.kill()
    await server.start()
  },
})

/** Each of those that a run needs at least once, in an order of chance, and the rest whoever it is. */
export function drawDeaths(
  { cloud, first }: Place,
  { seed, count }: { readonly seed: number; readonly count: number },
): readonly (Death & { readonly restMs: number })[] {
  const luck = chance(seed)
  const needed: [Death, ...Death[]] = [
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
  const all: [Death, ...Death[]] = [...needed]
  for (const [at, cell] of cloud.cells.entries()) all.push(of(`cell ${at + 1}`, cell))
  const drawn = Array.from({ length: count }, (_, at) => needed[at] ?? luck.pick(all))
  return drawn
    .map((death) => ({ death, at: luck.between(0, 1) }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ death }) => ({ ...death, restMs: luck.between(...RESTS_MS) }))
}

/** One after the other, each started again before the next; `tell` hears of each. */
export async function killAll(
  deaths: ReturnType<typeof drawDeaths>,
  tell: (what: string) => void,
): Promise<void> {
  const began = performance.now()
  for (const { who, dies, restMs } of deaths) {
    await sleep(restMs)
    tell(`${Math.round(performance.now() - began)} ms: kill -9 of ${who}`)
    await dies()
  }
}
