// One client that is never idle: errand after errand around one running guest.
import type { SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import type { Driven } from './driven.ts'
import {
  clone,
  create,
  forget,
  keep,
  look,
  map,
  power,
  remove,
  revert,
  share,
  unmap,
} from './errands.ts'
import { insist, type Engines, type Errand, type Tally } from './insist.ts'

/** The maximum number of clones of a running guest, because each makes its chain of layers longer. */
const CLONES_MAX = 2

/** Errands by the name of their round; each round ends as it began, with the guest running and no other VM. */
export type Rounds<E> = Record<string, Errand<E>[]>

export interface LaneOptions<E extends Driven> {
  readonly engines: Engines<E>
  /** A guest that runs throughout. */
  readonly guest: string
  /** The name prefix of its VMs, used by no one else. */
  readonly name: string
  /** A directory of the machine to share. */
  readonly folder: string
  readonly chance: SeededRandom
  readonly tally: Tally
  /** Additional rounds of more capable clients, around this guest and with VMs of this name prefix. */
  readonly more?: (guest: string, temporary: string) => Rounds<E>
  /** Rounds that remain before one is repeated; shared by all lanes that hold it. */
  readonly deck?: string[]
  /** Called between two errands. */
  readonly isOver: () => boolean
}

/** Runs errands until it is over, then those that remove what it created. */
export async function runLane<E extends Driven>(options: LaneOptions<E>): Promise<void> {
  const { engines, guest, name, chance, tally, isOver, more = () => ({}), deck } = options
  let clones = 0
  for (let round = 0; !isOver(); round++) {
    const temporary = `${name}-${round}`
    const rounds: Rounds<E> = {
      ...roundsOf(guest, temporary, options.folder),
      ...more(guest, temporary),
    }
    const kinds = Object.keys(rounds).filter((kind) => kind !== 'clone' || clones < CLONES_MAX)
    const kind = draw(kinds, chance, deck)
    if (kind === 'clone') clones++
    for (const errand of rounds[kind] ?? []) await insist(engines, errand, tally)
  }
}

/** With a deck every round has its turn, however few are run. */
function draw(kinds: readonly string[], chance: SeededRandom, deck?: string[]): string {
  if (deck && !deck.some((kind) => kinds.includes(kind))) deck.push(...kinds)
  const choices = deck ? kinds.filter((kind) => deck.includes(kind)) : kinds
  const kind = chance.pick(choices as [string, ...string[]])
  deck?.splice(deck.indexOf(kind), 1)
  return kind
}

function roundsOf(guest: string, temporary: string, folder: string): Rounds<Driven> {
  const cloned = `${temporary}-c`
  return {
    create: [create(temporary), remove(temporary)],
    clone: [clone(guest, temporary), remove(temporary)],
    cloneOff: [create(temporary), clone(temporary, cloned), remove(temporary), remove(cloned)],
    power: [
      create(temporary),
      power(temporary, 'on'),
      power(temporary, 'pause'),
      power(temporary, 'unpause'),
      power(temporary, 'reset'),
      power(temporary, 'off'),
      remove(temporary),
    ],
    suspend: [
      create(temporary),
      power(temporary, 'on'),
      power(temporary, 'suspend'),
      power(temporary, 'on'),
      remove(temporary),
    ],
    memory: [keep(guest, 'memory', true), forget(guest, 'memory')],
    disk: [keep(guest, 'disk', false), forget(guest, 'disk')],
    off: [create(temporary), keep(temporary, 'off', false), remove(temporary)],
    revert: [
      create(temporary),
      power(temporary, 'on'),
      keep(temporary, 'kept', true),
      revert(temporary, 'kept'),
      forget(temporary, 'kept'),
      remove(temporary),
    ],
    folders: [share(guest), map(guest, 'docs', folder), unmap(guest, 'docs')],
    look: [look(guest)],
  }
}
