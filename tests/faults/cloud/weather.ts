// When something is killed, and how many operations run meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'

import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { killable, networkKillable, type Killable, type Killer } from './kills.ts'

const LOOK_MS = 50
/** No fault may delay a task for longer than this after the last of them; if they are spread, others may follow. */
const ENDS_MS = 240_000

export interface Sky {
  readonly killer: Killer
  /** Whether the cloud has networks across hosts. */
  readonly network: boolean
  /** The number of accepted operations so far. */
  readonly accepted: () => number
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export interface Weather {
  /** Kills until it is over. */
  readonly rage: () => Promise<void>
  /** One more operation, when it is due; false if none is left. */
  readonly take: () => Promise<boolean>
  readonly giveBack: () => void
  /** The maximum delay of a task. */
  readonly patienceMs: number
}

/**
 * This many operations and kills, the same number of each kind, interleaved: no operation is the last before the last kill.
 * A kill that finds no process at work has more operations started until it finds one.
 */
export function spread(
  { operations, kills }: { readonly operations: number; readonly kills: number },
  draw: SeededRandom,
  { killer, network, accepted, signal, say }: Sky,
): Weather {
  const kinds = network ? [...killable, ...networkKillable] : killable
  const deck = shuffle(kinds, kills, draw)
  let taken = 0
  const isAllowed = () =>
    killer.isLooking ||
    taken < Math.min(operations, (operations * (killer.kills.length + 2)) / kills)
  const isOver = () => signal.aborted || (taken >= operations && killer.kills.length === kills)
  return {
    patienceMs: ENDS_MS,
    async rage() {
      for (const [number, what] of deck.entries()) {
        while (accepted() < Math.floor((operations * (number + 0.5)) / kills)) {
          killer.check()
          await sleep(LOOK_MS, undefined, { signal })
        }
        const { whose, takenOverMs } = await killer.kill(what)
        const taken =
          takenOverMs === undefined ? '' : `, its work another’s after ${takenOverMs} ms`
        say(`kill ${number + 1} of ${kills}: ${what} ${whose}${taken}; ${accepted()} accepted`)
      }
    },
    async take() {
      while (!isOver()) {
        if (isAllowed()) return (taken += 1) > 0
        await sleep(LOOK_MS)
      }
      return false
    },
    giveBack() {
      taken -= 1
    },
  }
}

/** One kind, repeatedly after delays drawn from the seed, for this long; and as many operations as fit. */
export function steady(
  what: Killable,
  { forMs, everyMs }: { readonly forMs: number; readonly everyMs: readonly [number, number] },
  draw: SeededRandom,
  { killer, accepted, signal, say }: Sky,
): Weather {
  const end = performance.now() + forMs
  const isOver = () => signal.aborted || performance.now() > end
  return {
    // Temporal needs more than the time between two kills to reload its tables: a task may wait for the last kill.
    patienceMs: forMs + ENDS_MS,
    async rage() {
      while (!isOver()) {
        await sleep(draw.between(...everyMs), undefined, { signal })
        killer.check()
        const { whose } = await killer.kill(what)
        const left = Math.max(0, Math.round((end - performance.now()) / 1000))
        say(`kill ${killer.kills.length}: ${whose}; ${accepted()} accepted, ${left} s left`)
      }
    },
    take: async () => !isOver(),
    giveBack: () => undefined,
  }
}

/** Targets that always exist. */
const servers: readonly Killable[] = ['vmd', 'libvirtd', 'postgres', 'temporal', 'network server']

/** Each kind equally often, if possible; the last one needs no process at work. */
function shuffle(kinds: readonly Killable[], kills: number, draw: SeededRandom): Killable[] {
  const deck: Killable[] = []
  while (deck.length < kills) {
    const round = [...kinds]
    while (round.length > 0 && deck.length < kills) {
      deck.push(...round.splice(Math.floor(draw.between(0, round.length)), 1))
    }
  }
  const last = deck.findLastIndex((what) => servers.includes(what))
  return last < 0 ? deck : [...deck.toSpliced(last, 1), deck[last] as Killable]
}
